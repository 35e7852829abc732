"""The worker process: started at the first call, ended with this process.

Sockets without a name join the two. Further connections go down the first one, so that threads
call at the same time. Closing a connection cancels the call on it. A forked child forgets the
worker of its parent, and starts its own.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ._binary import find_binary
from ._pipe import Answer, Arrays, Connection
from .errors import WorkerError, exception, warn

Progress = Callable[[str, int, int], None]
# Seconds for a cancelled call to end, and for the worker to end after this process.
_PATIENCE = 10.0


class Worker:
    """A process and the connections to it."""

    def __init__(self) -> None:
        binary = find_binary()
        mine, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()
        with theirs:
            self.process = subprocess.Popen(
                [binary, "worker", "--descriptor", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that Ctrl-C only reaches this process
                cwd="/",
            )
        self._control = mine
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._lock = threading.Lock()

    def alive(self) -> bool:
        return self.process.poll() is None

    def take(self) -> Connection:
        with self._lock:
            if self._idle:
                c = self._idle.pop()
            else:
                mine, theirs = socket.socketpair()
                with theirs:
                    socket.send_fds(self._control, [b"c"], [theirs.fileno()])
                c = Connection(mine)
            self._busy.add(c)
            return c

    def give(self, c: Connection) -> None:
        with self._lock:
            self._busy.discard(c)
            self._idle.append(c)

    def cancel(self, c: Connection) -> None:
        """Ends the call on a connection, and waits until it has ended."""
        with self._lock:
            self._busy.discard(c)
        try:
            c.sock.shutdown(socket.SHUT_WR)
            c.sock.settimeout(_PATIENCE)
            while c.sock.recv(1 << 16):
                pass
        except OSError:
            pass
        finally:
            c.close()

    def how_it_ended(self) -> str:
        try:
            code = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "the worker closed the connection"
        try:
            name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        except ValueError:
            name = f"signal {-code}"
        self._log.seek(0)
        said = self._log.read().decode("utf-8", "replace").strip()[-2000:]
        return f"the worker ended ({name})" + (f": {said}" if said else "")

    def forget(self) -> None:
        """In a forked child: lets go of the parent's worker without touching it."""
        self._lock = threading.Lock()
        for c in [*self._idle, *self._busy]:
            c.close()
        self._control.close()
        self._log.close()
        self.process.returncode = 0  # a forked child must not wait for its parent's worker

    def stop(self) -> None:
        """Ends the worker: closing the control socket cancels what it does."""
        self._control.close()
        with self._lock:
            for c in self._idle:
                c.close()
            self._idle.clear()
        try:
            self.process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


_current: Worker | None = None
_guard = threading.Lock()


def worker() -> Worker:
    """The worker of this process, which is started if there is none."""
    global _current
    w = _current
    if w is not None and w.alive():
        return w
    with _guard:
        if _current is None or not _current.alive():
            _current = Worker()
        return _current


def shutdown() -> None:
    """Ends the worker. The next call starts a new one."""
    global _current
    with _guard:
        w, _current = _current, None
    if w is not None:
        w.stop()


def _after_fork_in_child() -> None:
    global _current, _guard
    _guard = threading.Lock()
    w, _current = _current, None
    if w is not None:
        w.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(shutdown)


def call(
    do: str | bytes,
    args: dict[str, Any] | None = None,
    arrays: Arrays | None = None,
    *,
    on: Worker | None = None,
    passes: Iterable[Iterable[Arrays]] = (),
    progress: Progress | None = None,
    file: str = "",
    quiet: bool = False,
) -> Answer:
    """Calls the worker. Each of the passes is what follows the call, up to an end.

    do is the name of a call, or its whole header, already written.
    file is a temporary one, that messages should not name. Notes are warnings, unless quiet.
    """
    w = on or worker()
    c: Connection | None = None
    try:
        c = w.take()
        if isinstance(do, bytes):
            c.send_text(do)
        else:
            c.send({"do": do, "with": args or {}}, arrays)
        answer = _feed(c, passes, progress) if passes else None
        while answer is None:
            answer = _read(c, progress)
    except (EOFError, ConnectionError, BrokenPipeError) as err:
        if c is not None:
            c.close()
        raise WorkerError(w.how_it_ended()) from err
    except BaseException:
        if c is not None:
            w.cancel(c)
        raise
    w.give(c)
    header, received = answer
    notes = [_without(note, file) for note in header.get("notes", ())]
    for note in () if quiet else notes:
        warn(note)
    if "error" in header:
        raise exception(header["kind"], _without(header["error"], file))
    return Answer(header["result"], received, notes)


def _without(message: str, file: str) -> str:
    return message.replace(file, "the documents") if file else message


Message = tuple[dict[str, Any], dict[str, np.ndarray]]


def _read(c: Connection, progress: Progress | None) -> Message | None:
    """The answer, or None if it was about progress."""
    header, arrays = c.receive()
    told = header.get("progress")
    if told is None:
        return header, arrays
    if progress is not None:
        progress(*told)
    return None


def _feed(
    c: Connection, passes: Iterable[Iterable[Arrays]], progress: Progress | None
) -> Message | None:
    """Sends what follows a call, unless the answer comes before its end."""
    for one in passes:
        for arrays in one:
            while c.readable():
                answer = _read(c, progress)
                if answer is not None:
                    return answer
            c.send({"do": "more"}, arrays)
        c.send({"do": "end"})
    return None
