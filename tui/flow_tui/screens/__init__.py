"""One screen for each kind of thing."""
