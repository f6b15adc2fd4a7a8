"""What is worth showing: search, ranking, surfacing. Writes nothing."""
