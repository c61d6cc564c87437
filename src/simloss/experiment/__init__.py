"""A configuration made into a folder of records: model, training, grid, store."""
