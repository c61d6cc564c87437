"""What people would use instead of a net, trained and judged as the nets are."""
