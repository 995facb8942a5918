"""Operators: kinds of tasks. Each module is imported by the DAG files that use it."""
