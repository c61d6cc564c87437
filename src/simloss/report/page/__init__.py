"""One page that works offline."""
