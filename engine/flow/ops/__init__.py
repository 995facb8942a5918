"""What a verb does: one set of operations for the command line and the terminal UI.

An operation that changes something is one transaction, which also writes its audit entry
(`Deployment.change`). Operations return plain records and print nothing.
"""
