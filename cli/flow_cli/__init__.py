"""The `flow` command: it reads arguments, calls operations, and renders what they return."""
