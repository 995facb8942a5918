"""Putting the code that children run side by side.

A call writes to the code that it runs (who refers to it is counted there), so a child copies every
page that holds code of its own way. As modules are loaded, this code lies scattered among what no
child ever calls. A copy made when it is known what runs lies beside the other copies.
"""

from __future__ import annotations

import gc
import opcode
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Final

_LARGEST: Final = 512
"""Bytes up to which Python keeps what has one size together, in steps of 16 …"""
_STEP: Final = 128
"""… and the step here: with fewer sizes there are fewer pages of which code fills only a part."""
_NOTHING: Final = bytes((opcode.opmap["NOP"], 0))


@contextmanager
def noting(codes: list[CodeType]) -> Iterator[None]:
    """Add to `codes` what is called in the block, in the order of the first calls."""
    known = set(map(id, codes))

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and id(frame.f_code) not in known:
            known.add(id(frame.f_code))
            codes.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def living(addresses: Iterable[int]) -> list[CodeType]:
    """The code of functions that lies at some of `addresses`, in their order."""
    found: dict[int, CodeType] = {}
    waiting = [function.__code__ for function in _functions()]
    while waiting:
        code = waiting.pop()
        if id(code) not in found:
            found[id(code)] = code
            waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
    return [found[address] for address in addresses if address in found]


def gather(codes: Sequence[CodeType]) -> None:
    """Let all functions that have one of `codes`, or make functions of it, use copies in a row."""
    copies = _Copies(codes)
    for function in _functions():
        copy = copies.of(function.__code__)
        if copy is not function.__code__:
            function.__code__ = copy


def _functions() -> list[FunctionType]:
    return [one for one in gc.get_objects() if isinstance(one, FunctionType)]


def _rounded(code: CodeType) -> bytes:
    """The instructions of `code`, and more that are never run, up to the next step of its size."""
    size = sys.getsizeof(code)
    missing = -size % _STEP if size <= _LARGEST else 0
    return code.co_code + _NOTHING * (missing // len(_NOTHING))


class _Copies:
    """Copies of some code, and of what has it among its constants."""

    def __init__(self, codes: Sequence[CodeType]) -> None:
        self._wanted = set(map(id, codes))
        # With the originals, for an address means something only as long as its object lives.
        self._made: dict[int, tuple[CodeType, CodeType]] = {}
        for code in codes:
            self.of(code)

    def of(self, code: CodeType) -> CodeType:
        """The copy of `code`, or itself where nothing of it was asked for."""
        if id(code) not in self._made:
            self._made[id(code)] = code, self._make(code)
        return self._made[id(code)][1]

    def _make(self, code: CodeType) -> CodeType:
        inner = self._inner(code)
        if not inner and id(code) not in self._wanted:
            return code
        consts = tuple(inner.get(id(const), const) for const in code.co_consts)
        return code.replace(co_code=_rounded(code), co_consts=consts)

    def _inner(self, code: CodeType) -> Mapping[int, CodeType]:
        """Copies of the code within, where there are any, by the address of the original."""
        within = [const for const in code.co_consts if isinstance(const, CodeType)]
        copies = {id(const): self.of(const) for const in within}
        return {id(const): copies[id(const)] for const in within if copies[id(const)] is not const}
