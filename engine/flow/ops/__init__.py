"""What a verb does: one transaction each, with its audit entry; it never prints."""
