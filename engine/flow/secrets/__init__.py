"""Variables and connections: the keys that encrypt them, and where a value is looked for."""
