"""The verbs, one module each; `remvault.surfaces.cli.program` imports the one that is asked for."""
