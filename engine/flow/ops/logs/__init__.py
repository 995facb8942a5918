"""`flow logs`: what tries have written, as readable text, also while they still write."""

from flow.ops.logs.choosing import chosen
from flow.ops.logs.following import follow
from flow.ops.logs.reading import read
from flow.ops.logs.source import Piece, Reading, Request, Source, place_of, source_of

__all__ = [
    "Piece",
    "Reading",
    "Request",
    "Source",
    "chosen",
    "follow",
    "place_of",
    "read",
    "source_of",
]
