"""Flow: data pipelines as Python graphs, each run tied to a slice of time."""
