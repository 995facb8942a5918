"""Canonical JSON of a `DagSpec` and its hash: the same graph is always the same bytes."""

from __future__ import annotations

import hashlib

import msgspec

from flow.graph.spec import DagSpec

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(DagSpec)


def encode(spec: DagSpec) -> bytes:
    """Canonical JSON: keys sorted, defaults left out, no white space."""
    return _encoder.encode(spec)


def decode(text: bytes | str) -> DagSpec:
    """The spec in `text`; fields that this version does not know are ignored.

    Raises `msgspec.ValidationError` when a known field has a wrong type.
    """
    return _decoder.decode(text)


def spec_hash(text: bytes) -> str:
    """SHA-256 of canonical JSON, in hexadecimal."""
    return hashlib.sha256(text).hexdigest()
