"""Processes that run user code, and the one that forks them."""
