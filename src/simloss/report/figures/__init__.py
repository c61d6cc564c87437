"""The page's figures as plotly's plain data, one file a figure; nothing is drawn here."""
