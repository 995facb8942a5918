"""A clock that goes wrong, for the one process that has this folder on its PYTHONPATH.

`time.time`, `time.time_ns` and `datetime.now` are off by CHAOS_SKEW seconds. The class `datetime`
stays what it is, because others compare types by identity: its method is replaced in place, which
takes the garbage collector's view of the dictionary behind it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from datetime import datetime, timedelta, tzinfo

_SKEW = float(os.environ["CHAOS_SKEW"])
_true_time, _true_time_ns = time.time, time.time_ns
_methods = gc.get_referents(datetime.__dict__)[0]
_true_now = _methods["now"]


def _time() -> float:
    return _true_time() + _SKEW


def _time_ns() -> int:
    return _true_time_ns() + int(_SKEW * 1_000_000_000)


def _now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
    found: datetime = _true_now.__get__(None, cls)(tz) + timedelta(seconds=_SKEW)
    return found


time.time, time.time_ns = _time, _time_ns
_methods["now"] = classmethod(_now)
ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))
