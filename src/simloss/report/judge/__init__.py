"""Records made into a verdict: results, findings, statistics, and their wording."""
