"""What is to be compared: data, treatments, seeds, as one configuration."""
