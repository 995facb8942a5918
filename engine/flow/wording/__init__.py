"""How values, states and what operations return read: the same words in both faces."""
