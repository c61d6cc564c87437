"""One net in a file: trained, saved, answering for new data."""
