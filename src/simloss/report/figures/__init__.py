"""The figures of the page as plotly's plain data, one file per figure; nothing is drawn here."""
