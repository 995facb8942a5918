"""The few Linux calls that Python does not wrap: prctl(2), capset(2), timers on CLOCK_BOOTTIME.

Importing ctypes takes about 10 ms, so the zygote loads this module before it forks.
Numbers are those of <linux/prctl.h>, <linux/capability.h> and <sys/timerfd.h>.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NAME: Final = 15
_PR_SET_CHILD_SUBREAPER: Final = 36

_TFD_NONBLOCK_CLOEXEC: Final = os.O_NONBLOCK | os.O_CLOEXEC
_TFD_TIMER_ABSTIME: Final = 1

_CAPABILITY_VERSION_3: Final = 0x20080522
_CAPABILITY_WORDS: Final = 2

_libc = ctypes.CDLL(None, use_errno=True)
# Each child of a zygote calls these: with their types told, ctypes makes no object per argument.
_prctl_number = _libc["prctl"]
_prctl_number.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
_prctl_text = _libc["prctl"]
_prctl_text.argtypes = (ctypes.c_int, ctypes.c_char_p, *(ctypes.c_ulong,) * 3)
# The one of `os` tries every number where the kernel does not know the call.
_close_range = getattr(_libc, "close_range", None)
if _close_range is not None:
    _close_range.argtypes = (ctypes.c_uint, ctypes.c_uint, ctypes.c_int)
_LAST_DESCRIPTOR: Final = 0xFFFFFFFF


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityWord(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, argument: int) -> None:
    _check(_prctl_number(option, argument, 0, 0, 0))


def become_subreaper() -> None:
    """From now on orphaned descendants become children of this process, not of init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Send this process a signal when its parent, the thread that forked it, dies.

    `parent` is the pid seen before the fork: a parent that died before the call is noticed too.
    """
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def outlive_parent() -> None:
    """Undo `die_with_parent`."""
    _prctl(_PR_SET_PDEATHSIG, 0)


def set_name(name: str) -> None:
    """Name this process, for ps and top. The kernel keeps 15 bytes."""
    _check(_prctl_text(_PR_SET_NAME, name.encode(), 0, 0, 0))


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    if _close_range is None or _close_range(first, _LAST_DESCRIPTOR, 0) < 0:
        # A kernel before 5.9: those that are open have to be looked for.
        last = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208 - in each child's start
        os.closerange(first, last + 1)


def forbid_dump() -> None:
    """Keep other processes of the same user out of this one's memory and /proc files."""
    _prctl(_PR_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    """Give up every capability, for this process and whatever it executes.

    With the permitted ones the ambient ones go too, which a change from one ordinary user to
    another would leave (capabilities(7)).
    """
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    none = (_CapabilityWord * _CAPABILITY_WORDS)()
    _check(_libc.capset(ctypes.byref(header), none))


def boottime_timer() -> int:
    """A non-blocking timer descriptor on CLOCK_BOOTTIME, which goes on while the host sleeps."""
    return _check(_libc.timerfd_create(time.CLOCK_BOOTTIME, _TFD_NONBLOCK_CLOEXEC))


def set_timer(descriptor: int, until: float) -> None:
    """Let a timer become readable at `until`, in seconds of its clock; 0 disarms it."""
    seconds = int(until)
    value = _Timespec(seconds, int((until - seconds) * 1e9))
    spec = _TimerSpec(_Timespec(0, 0), value)
    _check(_libc.timerfd_settime(descriptor, _TFD_TIMER_ABSTIME, ctypes.byref(spec), None))
