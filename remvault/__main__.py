"""`python -m remvault`."""

from remvault.surfaces.cli import main

main()
