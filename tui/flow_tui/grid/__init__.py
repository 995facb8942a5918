"""The grid as data: its rows, its columns, and what is pointed at. Nothing here knows a screen."""
