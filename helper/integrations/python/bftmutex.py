# SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0
"""Locks and objects of a cluster whose servers may lie.

    with bftmutex.Lock("jobs", fence=True) as lock:
        store(lock.token, ...)
        lock.check()            # raises Lost when the lease is over

    async with bftmutex.AsyncLock("jobs") as lock:
        ...

    bftmutex.Object("visits").submit("add 1").data

A thin layer over libbftmutex; see bftmutex(3) and bftmutex(4). Names are str, which UTF-8
encodes, or bytes. Times are seconds, but for deadline_ns, which is on CLOCK_BOOTTIME. A time limit
of -1 is none; any other that is below 0 or no number raises ValueError.
"""
from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import select
import threading
import time
from typing import NamedTuple, Optional, Union

__all__ = ["Lock", "AsyncLock", "Object", "Response", "Status", "Lost", "Deadlock", "Unsure",
           "ObjectError"]

Name = Union[str, bytes]
Path = Union[str, bytes, "os.PathLike[str]"]

# The same as in linux/bftmutex.h and libbftmutex.h; selftests/integrations/python compares them.
TRY, RENEW, FENCE, VALUE, NO_LEASE = 1, 2, 4, 8, 16
NAME_MAX, CLUSTER_MAX, SUBMIT_NAME_MAX, SUBMIT_MAX, WHY_MAX = 64, 32, 63, 16384, 248
VALUE_MAX = 64
NO_END = 2 ** 64 - 1
STATES = ("idle", "pending", "held", "lost", "failed")
REASONS = ("none", "expired", "not-renewed", "no-helper", "suspended", "restored",
           "evicted")
# Somebody else has the lock; or the lease was over at once, and the lock was asked for only once.
NOT_HAD = (errno.EWOULDBLOCK, errno.ETIMEDOUT, errno.EKEYEXPIRED)
NOT_CONVERTED = (errno.EWOULDBLOCK, errno.ETIMEDOUT)
# Modes of a lock, in the order of enum bftm_lock_mode.
MODES = ("EX", "PW", "PR", "CW", "CR", "NL")
MODE_SHIFT = 28         # BFTMUTEX_MODE()
# A release or close() by another thread wakes nobody, so that who waits looks again: seconds.
LOOK_AGAIN = 1.0
WAYS = {None: 0, "backoff": 1, "no-backoff": 2, "queue": 3}


class _Options(ctypes.Structure):   # struct bftmutex_options
    _fields_ = [("cluster", ctypes.c_char_p), ("lease_ns", ctypes.c_uint64),
                ("timeout_ns", ctypes.c_uint64), ("flags", ctypes.c_uint32),
                ("way", ctypes.c_uint32)]


class _Grant(ctypes.Structure):     # struct bftmutex_grant
    _fields_ = [("deadline_ns", ctypes.c_uint64), ("token", ctypes.c_uint64),
                ("attempts", ctypes.c_uint32)]


class _Status(ctypes.Structure):    # struct bftm_status
    _fields_ = [("size", ctypes.c_uint32), ("state", ctypes.c_uint32), ("reason", ctypes.c_uint32),
                ("error", ctypes.c_int32), ("deadline_ns", ctypes.c_uint64),
                ("remaining_ns", ctypes.c_uint64), ("token", ctypes.c_uint64),
                ("attempts", ctypes.c_uint32), ("mode", ctypes.c_uint32)]


class _Value(ctypes.Structure):     # struct bftm_lock_value
    _fields_ = [("size", ctypes.c_uint32), ("op", ctypes.c_uint32), ("len", ctypes.c_uint32),
                ("valid", ctypes.c_uint32), ("bytes", ctypes.c_uint8 * VALUE_MAX)]


class _Response(ctypes.Structure):  # struct bftmutex_response
    _fields_ = [("data", ctypes.c_void_p), ("room", ctypes.c_size_t), ("len", ctypes.c_size_t),
                ("number", ctypes.c_uint64), ("id", ctypes.c_uint64), ("status", ctypes.c_uint32)]


def _load() -> ctypes.CDLL:
    lib = ctypes.CDLL("libbftmutex.so.0")
    options, pointer = ctypes.POINTER(_Options), ctypes.POINTER
    for name, *arguments in (
            ("open", ctypes.c_char_p),
            ("acquire", ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, options, pointer(_Grant)),
            ("release", ctypes.c_int),
            ("renew", ctypes.c_int, ctypes.c_uint64, pointer(ctypes.c_uint64)),
            ("convert", ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64,
             pointer(_Grant)),
            ("value", ctypes.c_int, pointer(_Value)),
            ("set_value", ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t),
            ("status", ctypes.c_int, pointer(_Status)),
            ("why", ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t),
            ("submit", ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
             ctypes.c_size_t, options, pointer(_Response)),
            ("strerror", ctypes.c_int)):
        function = getattr(lib, "bftmutex_" + name)
        function.argtypes = arguments
        function.restype = ctypes.c_char_p if name == "strerror" else ctypes.c_int
    return lib


_lib = _load()


class Lost(OSError):
    """The lease was over before the lock was given back: somebody else may have had it since."""


class Deadlock(OSError):
    """Another holder converts the lock too, and each waits for the other: release it, or convert
    it to less. It is held in the mode before, and the other's conversion goes on."""


class Unsure(OSError):
    """It is not known whether the request was or will be applied."""


class ObjectError(OSError):
    """The request was applied, and the object did not do as it was asked; response has the rest."""

    response: Response


class Response(NamedTuple):
    """Result of a request; number grows with each one that is done to the object."""

    data: bytes
    number: int


class Status(NamedTuple):
    """State of a lock; see BFTM_IOC_STATUS of bftmutex(4)."""

    state: str
    reason: str
    error: int
    deadline_ns: Optional[int]      # None: the lock is held without a lease, and has no end
    remaining: Optional[float]      # likewise
    token: int
    attempts: int
    mode: str


def _status(s: _Status) -> Status:
    return Status(STATES[s.state], REASONS[s.reason], s.error,
                  None if s.deadline_ns == NO_END else s.deadline_ns,
                  None if s.remaining_ns == NO_END else s.remaining_ns / 1e9,
                  s.token, s.attempts, MODES[s.mode])


def _bytes(what: str, name: Name, least: int, most: int) -> bytes:
    # bytes(5) would be five zero bytes.
    data = name.encode() if isinstance(name, str) else bytes(memoryview(name))
    if not least <= len(data) <= most:
        raise ValueError("%s %r: must be %d to %d bytes" % (what, name, least, most))
    return data


def _mode(mode: str) -> int:
    if mode not in MODES[:-1]:
        raise ValueError("mode %r: must be one of %s" % (mode, ", ".join(MODES[:-1])))
    return MODES.index(mode)


def _ns(what: str, seconds: float) -> int:
    """A duration above zero: at least a nanosecond, since 0 has another meaning."""
    if not 0 < seconds < 2 ** 33:
        raise ValueError("%s %r: must be above 0 and below 2^33 seconds" % (what, seconds))
    return max(1, int(seconds * 1e9))


def _limit(timeout: float) -> int:
    return 0 if timeout == -1 else _ns("timeout", timeout)


def _no_nul(what: str, data: bytes) -> bytes:
    """C would take what stands before the NUL byte for all of it."""
    if b"\0" in data:
        raise ValueError("%s %r: must have no NUL byte" % (what, data))
    return data


def _text(error: int, fd: int = -1) -> str:
    text = (_lib.bftmutex_strerror(error) or b"").decode(errors="replace")
    why = ctypes.create_string_buffer(WHY_MAX)
    if fd >= 0 and _lib.bftmutex_why(fd, why, WHY_MAX) == 0 and why.value:
        text += ": " + why.value.decode(errors="replace")
    return text


class _Handle:
    """An open file of the device, and the options of its lock."""

    _fd = -1    # also when the constructor fails

    def __init__(self, name: Name, *, cluster: Optional[Name] = None,
                 lease: Optional[float] = None, renew: bool = True, fence: bool = False,
                 value: bool = False, way: Optional[str] = None, mode: str = "EX",
                 device: Optional[Path] = None) -> None:
        """Nothing is asked for yet. lease: seconds, None for the cluster's default. renew: until
        it is released. fence: with a token. value: with the value that the last writer left. way:
        "queue", "backoff" or "no-backoff" while somebody else has the lock. mode: "EX", or "PR" for
        a lock that others may share, "PW", "CW", "CR". device: its path."""
        self.name = _bytes("name", name, 1, NAME_MAX)
        self._cluster = _no_nul("cluster", _bytes("cluster", cluster or b"", 0, CLUSTER_MAX))
        if way not in WAYS:
            raise ValueError("way %r: must be one of %s" % (way, ", ".join(filter(None, WAYS))))
        number = _mode(mode)
        self._lease_ns = 0 if lease is None else _ns("lease", lease)
        self._flags = RENEW * renew | FENCE * fence | VALUE * value | number << MODE_SHIFT
        self._way = WAYS[way]
        path = os.fspath(device or os.environ.get("BFTMUTEX_DEVICE") or "/dev/bftmutex")
        fd = _lib.bftmutex_open(_no_nul("device", os.fsencode(path)))
        if fd < 0:
            raise OSError(-fd, _text(fd), path)
        self._fd = fd
        self._pid = os.getpid()

    def __reduce_ex__(self, protocol):
        # A copy would close the descriptor, or one of another file in another process.
        raise TypeError("cannot copy or pickle a handle of a lock or an object: %r" % self)

    def _options(self, timeout: float, once: bool) -> _Options:
        return _Options(cluster=self._cluster or None, lease_ns=self._lease_ns, way=self._way,
                        flags=self._flags | TRY * once, timeout_ns=0 if once else _limit(timeout))

    def _error(self, error: int) -> OSError:
        return OSError(error, "lock %r: %s" % (self.name, _text(error, self._fd)))

    def _lost(self) -> Lost:
        reason = self.status().reason
        return Lost(errno.EKEYEXPIRED, "lock %r was lost%s" % (
            self.name, "" if reason == "none" else ": " + reason))

    def _begin(self, call, *arguments) -> int:
        """Make a request that is not waited for; the result is an errno, EINPROGRESS for one that
        poll() tells the end of."""
        return -call(self._fd, *arguments)

    def _poll(self, events: int) -> select.epoll:
        """Unlike poll() it does not keep a file open that is closed meanwhile."""
        if self._fd < 0:
            raise self._error(errno.EBADF)
        poll = select.epoll()
        try:
            poll.register(self._fd, events)
        except BaseException:
            poll.close()
            raise
        return poll

    def _acquired(self, status: Status) -> int:
        """The errno of an acquire that was decided."""
        return {"held": 0, "lost": errno.EKEYEXPIRED, "failed": status.error}.get(
            status.state, errno.ECANCELED)

    def _convert(self, mode: str, timeout: float, once: bool, fence: Optional[bool]) -> int:
        """Begin to convert it; the result is an errno."""
        flags = TRY * once | (self._flags & FENCE if fence is None else FENCE * fence)
        flags |= self._flags & VALUE
        return self._begin(_lib.bftmutex_convert, _mode(mode), flags,
                           0 if once else _limit(timeout), None)

    def _converted(self, error: int, status: Optional[Status] = None) -> bool:
        """What the error of a conversion means; with the status, of one that was decided."""
        if status:
            error = {"held": status.error, "lost": errno.EKEYEXPIRED}.get(
                status.state, errno.ENOLCK)
        if error == errno.EKEYEXPIRED:
            raise self._lost()
        if error == errno.ENOLCK:
            raise RuntimeError("conversion of lock %r, which is not held" % self.name)
        if error == errno.EDEADLK:
            raise Deadlock(error, "lock %r: %s" % (self.name, _text(error)))
        if error and error not in NOT_CONVERTED:
            raise OSError(error, "lock %r: %s" % (self.name, _text(error)))
        return not error

    def _release(self) -> None:
        # Ask before the release, which clears the reason.
        lost = self._lost()
        error = -_lib.bftmutex_release(self._fd)
        if error == errno.EKEYEXPIRED:
            raise lost
        if error == errno.ENOLCK:
            raise RuntimeError("release of lock %r, which is not held" % self.name)
        if error:
            raise self._error(error)

    def status(self) -> Status:
        """State of the lock, judged by the clock now."""
        s = _Status()
        error = -_lib.bftmutex_status(self._fd, s)
        if error:
            raise self._error(error)
        return _status(s)

    def locked(self) -> bool:
        """Is it held, by this object?"""
        return self.status().state == "held"

    def check(self) -> None:
        """Raise Lost unless the lock is held now."""
        if not self.locked():
            raise self._lost()

    @property
    def token(self) -> int:
        """The fencing token of the lock that is or was held, 0 for none."""
        return self.status().token

    def _valued(self, error: int) -> None:
        """Raise what the error of a request about the value means."""
        if error == errno.EKEYEXPIRED:
            raise self._lost()
        if error == errno.ENOLCK:
            raise RuntimeError("value of lock %r, which is not held" % self.name)
        if error == errno.ENODATA:
            raise RuntimeError("value of lock %r, which was made without value=True" % self.name)
        if error == errno.EPERM:
            raise RuntimeError("value of lock %r: it can be set in modes EX and PW, and not in %s" % (
                self.name, self.status().mode))
        if error:
            raise OSError(error, "lock %r: %s" % (self.name, _text(error)))

    @property
    def value(self) -> Optional[bytes]:
        """What the last holder in EX or PW left with the lock, or this one has set; None when that
        is not known. The lock is held, and was made with value=True."""
        value = _Value()
        self._valued(-_lib.bftmutex_value(self._fd, value))
        return bytes(value.bytes[:value.len]) if value.valid else None

    def set_value(self, value: Name) -> None:
        """Leave it, 0 to 64 bytes, to the next holders, who read it as soon as this one releases
        the lock or converts it to less. After a mere close() they find None."""
        data = _bytes("value", value, 0, VALUE_MAX)
        self._valued(-_lib.bftmutex_set_value(self._fd, data, len(data)))

    @property
    def remaining(self) -> Optional[float]:
        """Seconds until the deadline, 0 unless it is held; renewals move it. None: it has no end."""
        return self.status().remaining

    @property
    def deadline_ns(self) -> Optional[int]:
        """CLOCK_BOOTTIME until which it is held; renewals move it. None: it has no end."""
        return self.status().deadline_ns

    def fileno(self) -> int:
        """For poll(): POLLHUP when the lease is over."""
        return self._fd

    def close(self) -> None:
        """Give back the lock without an error, and close the handle. A call of another thread or
        task that waits for the lock fails: OSError."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        status = _Status()
        # Processes that were forked have the file open as well: an acquire ends with a release. One
        # that the parent makes is not theirs.
        if self._pid == os.getpid() and _lib.bftmutex_status(fd, status) == 0 and \
                STATES[status.state] == "pending":
            _lib.bftmutex_release(fd)
        os.close(fd)

    def __del__(self) -> None:
        self.close()


def _end(blocking: bool, timeout: float) -> Optional[float]:
    """When the time to wait is over, by time.monotonic(); None for never."""
    if timeout == -1:
        return None
    if not (blocking and timeout >= 0):
        raise ValueError("timeout %r: must be -1, or 0 and above and blocking" % timeout)
    if timeout:
        _limit(timeout)     # below 2^33
    return time.monotonic() + timeout


def _left(end: Optional[float]) -> float:
    return float("inf") if end is None else end - time.monotonic()


def _turn() -> threading.Lock:
    turn = threading.Lock()
    turn.acquire()
    return turn


class Lock(_Handle):
    """A lock of the cluster in the shape of threading.Lock: it excludes the threads that share
    the object too, and is not recursive. Closing the object, or its end, gives the lock back. A
    process that was forked shares the lock: release(), or leaving the "with", in one of the two
    gives it back for both.

    When a signal handler raises, such as KeyboardInterrupt, an acquire() or the begin of a "with"
    that this ends leaves no lock behind, and a release() has given it back. Between two calls, as
    when acquire() has just returned, the lock is the program's."""

    def __init__(self, name: Name, **options) -> None:
        # "of": the turn of the thread that asks for the lock or has it, a mutex that is locked until
        # the turn is over; "converts": a conversion. setdefault() takes the turn in one step, and
        # whose it is can be seen afterwards, whatever a signal handler raised meanwhile.
        self._turn: dict[str, threading.Lock] = {}
        self._held = False
        super().__init__(name, **options)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; False when somebody else has it, or timeout seconds are over."""
        turn = _turn()
        try:
            return self._take(turn, blocking, timeout)
        except BaseException:
            self._give_up(turn)
            raise

    def _take(self, turn: threading.Lock, blocking: bool, timeout: float) -> bool:
        end = _end(blocking, timeout)
        blocking = blocking and timeout != 0
        while True:
            other = self._turn.setdefault("of", turn)
            if self._fd < 0:
                raise self._error(errno.EBADF)
            if other is turn:
                break
            left = _left(end)
            if not blocking or left <= 0:
                return False
            if other.acquire(timeout=min(left, LOOK_AGAIN)):
                other.release()
        self._held = self._acquire(turn, blocking, end)
        if not self._held:
            self._give_up(turn)
        return self._held

    def _give_up(self, turn: threading.Lock) -> None:
        """If it is the turn, end what the kernel has of it, and the turn."""
        if self._turn.get("of") is turn:
            try:
                _lib.bftmutex_release(self._fd)
            finally:
                self._held = False
                if self._turn.pop("of", None) is turn:
                    turn.release()

    def _begin(self, call, *arguments) -> int:
        # A signal would end a call that waits, and its place in the queue would be lost. Others
        # who have the descriptor, such as bftmutex --fd, expect one that blocks.
        if self._fd < 0:
            return errno.EBADF
        os.set_blocking(self._fd, False)
        try:
            return super()._begin(call, *arguments)
        finally:
            with contextlib.suppress(OSError):
                os.set_blocking(self._fd, True)

    def _decided(self, turn: threading.Lock) -> Status:
        """Wait until what was begun in the turn is decided, or the kernel has it no more."""
        with self._poll(select.EPOLLIN) as poll:
            while not poll.poll(LOOK_AGAIN) and self.status().state in ("pending", "held") and \
                    self._turn.get("of") is turn:
                pass
        status = self.status()
        if self._turn.get("of") is not turn:
            raise self._error(errno.ECANCELED)
        return status

    def _acquire(self, turn: threading.Lock, blocking: bool, end: Optional[float]) -> bool:
        error = errno.EKEYEXPIRED
        # The lease was over before this thread ran; or renew() had it wait in the kernel.
        while error in (errno.EKEYEXPIRED, errno.EINTR):
            left = -1.0 if end is None else max(_left(end), 1e-9)
            error = self._begin(_lib.bftmutex_acquire, self.name, len(self.name),
                                self._options(left, not blocking), None)
            if error == errno.EINPROGRESS:
                error = self._acquired(self._decided(turn))
            if not blocking or left == 1e-9:
                break
        if error and error not in NOT_HAD:
            raise self._error(error)
        return not error

    def release(self) -> None:
        """Give the lock back. Lost: the lease was over before; RuntimeError: it is not held."""
        # The kernel would cancel an acquire of another thread.
        turn = self._turn.get("of")
        if not self._held or turn is None:
            raise RuntimeError("release of lock %r, which is not held" % self.name)
        try:
            self._release()
        finally:
            self._give_up(turn)

    def renew(self, timeout: float = -1) -> None:
        """Renew the lease of the held lock now; for a lock with renew=False."""
        error = -_lib.bftmutex_renew(self._fd, _limit(timeout), None)
        while error == errno.EINPROGRESS:   # another thread began a conversion at that moment
            os.set_blocking(self._fd, True)
            error = -_lib.bftmutex_renew(self._fd, _limit(timeout), None)
        if error == errno.EKEYEXPIRED:
            raise self._lost()
        if error:
            raise self._error(error)

    def convert(self, mode: str, blocking: bool = True, timeout: float = -1,
                fence: Optional[bool] = None) -> bool:
        """Hold the lock in another mode; False when others are in the way, or timeout seconds are
        over: then, and after Deadlock, it is held in the mode before. A mode that the one before
        covers, as EX covers all, is held at once: first stop doing what it does not allow. fence:
        with a token for the new mode; None as the lock was made."""
        end = _end(blocking, timeout)
        if not self._held:
            raise RuntimeError("conversion of lock %r, which is not held" % self.name)
        _mode(mode)
        was, conversion, turn = self.status(), threading.Lock(), self._turn.get("of")
        try:
            # It would take the place of the other.
            if self._turn.setdefault("converts", conversion) is not conversion:
                raise self._error(errno.EBUSY)
            error = errno.EINTR
            # A signal ends the call only where another thread makes the descriptor block.
            while error == errno.EINTR:
                left = -1.0 if end is None else max(_left(end), 1e-9)
                error = self._convert(mode, left, not blocking or timeout == 0, fence)
            status = self._decided(turn) if error == errno.EINPROGRESS else None
        except BaseException:
            if self._turn.get("converts") is conversion and self._turn.get("of") is turn:
                self._convert_back(was, turn)
            raise
        finally:
            if self._turn.get("converts") is conversion:
                del self._turn["converts"]
        return self._converted(error, status)

    def _convert_back(self, was: Status, turn: threading.Lock) -> None:
        """Hold it as before a conversion, which may be granted by now, and with a token if it had
        one."""
        for fence in (False, True):
            if self._convert(was.mode, -1, True, fence) == errno.EINPROGRESS:
                self._decided(turn)
            if not was.token or self.token:
                break

    def wait_lost(self, timeout: float = -1) -> bool:
        """Sleep until the lease is over, or timeout seconds are, or the lock is given back; is the
        lease over?"""
        end = _end(True, timeout)
        turn = self._turn.get("of")
        with self._poll(0) as poll:
            while True:
                left = max(_left(end), 0)
                if poll.poll(min(left, LOOK_AGAIN)):
                    return True
                if _left(end) <= 0 or not self._held or self._turn.get("of") is not turn:
                    return False

    def close(self) -> None:
        if self._fd < 0:
            return
        super().close()
        self._held = False
        turn = self._turn.pop("of", None)
        if turn:
            turn.release()

    def __enter__(self) -> Lock:
        turn = _turn()
        try:
            self._take(turn, True, -1)
            return self
        except BaseException:
            self._give_up(turn)
            raise

    def __exit__(self, kind, value, trace) -> None:
        if self._fd < 0:
            return
        try:
            self.release()
        except Lost:
            # An exception from inside, perhaps for that reason, says more.
            if kind is None:
                raise


class AsyncLock(_Handle):
    """The same for asyncio, in the shape of asyncio.Lock; one task may use it at a time."""

    def __init__(self, name: Name, **options) -> None:
        self._waiting: set[asyncio.Future] = set()
        super().__init__(name, **options)
        os.set_blocking(self._fd, False)

    async def _changed(self, events: int) -> bool:
        """Wait for one of events, or for the lease's end: False when it is given back instead."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.add(future)
        try:
            with self._poll(events) as poll:
                loop.add_reader(poll.fileno(), _settle, future, True)
                try:
                    return await future
                finally:
                    loop.remove_reader(poll.fileno())
        finally:
            self._waiting.discard(future)

    def _given_back(self) -> None:
        for future in list(self._waiting):
            with contextlib.suppress(RuntimeError):     # its loop is closed
                future.get_loop().call_soon_threadsafe(_settle, future, False)

    async def acquire(self, timeout: float = -1) -> bool:
        """Take the lock; False when timeout seconds are over, and for 0 when somebody has it."""
        options = self._options(timeout, timeout == 0)
        try:
            error = self._begin(_lib.bftmutex_acquire, self.name, len(self.name), options, None)
            if error == errno.EINPROGRESS:
                changed = await self._changed(select.EPOLLIN)
                error = self._acquired(self.status()) if changed else errno.ECANCELED
        except BaseException:
            _lib.bftmutex_release(self._fd)     # or the lock would be won although no task waits
            raise
        if self._fd < 0:
            error = errno.EBADF
        if error == errno.EKEYEXPIRED and timeout != 0:
            raise self._lost()
        if error and error not in NOT_HAD:
            raise self._error(error)
        return not error

    def release(self) -> None:
        """Give the lock back. Lost: the lease was over before; RuntimeError: it is not held."""
        try:
            self._release()
        finally:
            self._given_back()

    def close(self) -> None:
        if self._fd >= 0:
            super().close()
            self._given_back()

    async def convert(self, mode: str, timeout: float = -1, fence: Optional[bool] = None) -> bool:
        """As Lock.convert(); with a timeout of 0 it asks once.

        A task that is cancelled meanwhile holds the lock in the mode before, and with a token if it
        had one, also if the conversion was granted by then. When neither mode covers the other, PR
        and CW alone, the way back is asked for once: others may be in the way, and status() tells
        the mode."""
        _limit(timeout or -1)
        was = self.status()
        error = self._convert(mode, timeout, timeout == 0, fence)
        if error != errno.EINPROGRESS:
            return self._converted(error)
        try:
            await self._changed(select.EPOLLIN)
        except BaseException as reason:
            back = self._convert(was.mode, -1, True, False)
            # Other exceptions end the loop or the coroutine.
            if isinstance(reason, asyncio.CancelledError):
                await self._convert_back(was, back)
            raise
        return self._converted(0, self.status())

    async def _convert_back(self, was: Status, error: int) -> None:
        if error == errno.EINPROGRESS:
            await self._changed(select.EPOLLIN)
        if was.token and self._fd >= 0 and not self.token and \
                self._convert(was.mode, -1, True, True) == errno.EINPROGRESS:
            await self._changed(select.EPOLLIN)

    async def lost(self) -> None:
        """Return when the lease is over, or the lock is given back."""
        # The file is readable while the lock is held: only its hang-up counts.
        await self._changed(0)

    async def __aenter__(self) -> AsyncLock:
        await self.acquire()
        return self

    async def __aexit__(self, kind, value, trace) -> None:
        if self._fd < 0:
            return
        try:
            self.release()
        except Lost:
            if kind is None:
                raise


def _settle(future: asyncio.Future, result: bool) -> None:
    if not future.done():
        future.set_result(result)


class Object(_Handle):
    """An object that all clients of a cluster share; any number of threads may use it. With
    asyncio: await asyncio.to_thread(object.submit, ...)."""

    def __init__(self, name: Name, *, cluster: Optional[Name] = None,
                 device: Optional[Path] = None) -> None:
        super().__init__(_bytes("name", name, 1, SUBMIT_NAME_MAX), cluster=cluster, device=device)

    def submit(self, request: Name, timeout: float = -1) -> Response:
        """Have the request applied, once, such as "add 1"; a timeout of -1 waits for ever.

        ObjectError: it was applied, and the object did not do as it was asked. Unsure: nobody
        knows whether it was or will be applied, as after a signal. Another OSError: it was not.
        """
        request = _bytes("request", request, 1, SUBMIT_MAX)
        room = ctypes.create_string_buffer(SUBMIT_MAX)
        response = _Response(data=ctypes.addressof(room), room=SUBMIT_MAX)
        options = _Options(cluster=self._cluster or None,
                           timeout_ns=_limit(timeout))
        error = -_lib.bftmutex_submit(self._fd, self.name, len(self.name), request, len(request),
                                      options, response)
        if error:
            kind = Unsure if error in (errno.ETIMEDOUT, errno.EINTR, errno.EFAULT, errno.EIDRM,
                                       errno.EOWNERDEAD, errno.ENETUNREACH,
                                       errno.EREMOTEIO) else OSError
            raise kind(error, "object %r: %s" % (self.name, _text(error)))
        done = Response(room.raw[:response.len], response.number)
        if response.status:
            failed = ObjectError(response.status, "object %r: %s" % (
                self.name, done.data.decode(errors="replace") or os.strerror(response.status)))
            failed.response = done
            raise failed
        return done
