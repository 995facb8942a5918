"""What actions do: the command that does the same, a look at what it would do, and doing it.

The look and the deed are the operations behind that command, told in its words.
"""
