"""What writes the tables of docs/results.md from the records."""
