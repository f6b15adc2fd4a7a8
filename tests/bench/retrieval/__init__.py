"""The retrieval benchmark: sets of notes and questions, asked of the product; see `tests/bench/README.md`."""
