"""Messages to and from the worker: a header in JSON, and arrays as they lie in memory.

The format is described in cmd/internal/pipe/message.go. Numbers are little endian, as on all machines
that the program runs on.
"""

from __future__ import annotations

import json
import math
import select
import socket
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_PREFIX = struct.Struct("<IQ")
_TYPES = {name: np.dtype("<" + name) for name in ("u1", "u4", "i4", "i8", "f4", "f8")}
_ZEROS = bytes(8)
_SMALL = 1 << 15
MAX_PAYLOAD = 1 << 30

Arrays = Mapping[str, np.ndarray]


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):  # NumPy's numbers that json does not accept
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}: want a number or a string")


_encode = json.JSONEncoder(separators=(",", ":"), default=_number, allow_nan=False).encode


def dumps(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity."""
    try:
        return _encode(value)
    except ValueError:
        args = value.get("with", value) if isinstance(value, dict) else {}
        for name, v in args.items():
            if isinstance(v, (float, np.floating)) and not math.isfinite(v):
                raise ValueError(f"{name}={v}: want a finite number") from None
        raise


_loads = json.JSONDecoder().raw_decode  # decode would also look for blanks around the value


def strings(values: Iterable[str], name: str, ends: str) -> dict[str, np.ndarray]:
    """Strings as an array of their bytes and an array of where each ends."""
    values = values if isinstance(values, list) else list(values)
    data = "".join(values).encode()
    lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    total = int(lengths.sum())
    if total != len(data):  # not ASCII, so characters and bytes differ
        encoded = [v.encode() for v in values]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(values))
    return {name: np.frombuffer(data, dtype=np.uint8), ends: np.cumsum(lengths)}


def unpack_strings(data: np.ndarray, ends: np.ndarray) -> list[str]:
    """The strings of an array of bytes and an array of where each ends."""
    raw = data.tobytes()
    out = []
    at = 0
    for end in ends.tolist():
        out.append(raw[at:end].decode("utf-8", "surrogateescape"))
        at = end
    return out


class Answer:
    """The answer to a call."""

    __slots__ = ("result", "arrays", "notes")

    def __init__(self, result: Any, arrays: dict[str, np.ndarray], notes: list[str]):
        self.result, self.arrays, self.notes = result, arrays, notes

    def table(self, name: str) -> dict[str, Any]:
        """The columns of a table, as the worker's inColumns describes them."""
        columns: dict[str, Any] = {}
        for key, values in self.arrays.items():
            table, _, column = key.partition("/")
            if table != name or column.endswith((".ends", ".to")):
                continue
            ends, to = self.arrays.get(key + ".ends"), self.arrays.get(key + ".to")
            if ends is not None:
                values = unpack_strings(values, ends)  # type: ignore[assignment]
            columns[column] = values if to is None else np.split(values, to[:-1])
        return columns

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        table = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in self.table(name).items()}
        return [dict(zip(table, row)) for row in zip(*table.values())]


class Connection:
    """A socket with messages."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self._rest = b""
        self._poll = select.poll()  # select() only supports file descriptors below 1024
        self._poll.register(sock, select.POLLIN)

    def send(self, header: dict[str, Any], arrays: Arrays | None = None) -> None:
        if not arrays:
            self.send_text(dumps(header).encode())
            return
        parts: list[Any] = []
        payload = 0
        described = []
        for name, a in arrays.items():
            a = np.ascontiguousarray(a)
            kind = a.dtype.str[1:]
            if kind not in _TYPES:
                raise TypeError(f"array {name} is of type {a.dtype}")
            described.append((name, kind, a.shape))
            gap = -payload & 7
            if gap:
                parts.append(_ZEROS[:gap])
            if a.nbytes:
                parts.append(a.data.cast("B"))
            payload += gap + a.nbytes
        if payload > MAX_PAYLOAD:
            raise ValueError(f"a message of {payload} bytes: want at most {MAX_PAYLOAD}")
        text = dumps({**header, "arrays": described}).encode()
        first = _PREFIX.pack(len(text), payload) + text
        if payload <= _SMALL:
            self.sock.sendall(b"".join([first, *parts]))
            return
        self.sock.sendall(first)
        for part in parts:
            self.sock.sendall(part)

    def send_text(self, header: bytes) -> None:
        """Sends a message without arrays, of which the header is written already."""
        self.sock.sendall(_PREFIX.pack(len(header), 0) + header)

    def receive(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The next message. EOFError: the other end is closed."""
        data = self._rest
        while len(data) < _PREFIX.size:
            data += self._some()
        size, payload = _PREFIX.unpack_from(data)
        begin = _PREFIX.size + size
        while len(data) < begin:
            data += self._some()
        header = _loads(data[_PREFIX.size : begin].decode())[0]
        if "arrays" not in header:
            self._rest = data[begin:]
            return header, {}
        arrays = {}
        if payload == len(data) - begin:  # a short message arrived completely
            self._rest = b""
            at = begin
            for name, kind, shape in header["arrays"]:
                at += begin - at & 7
                dtype = _TYPES[kind]
                count = math.prod(shape)
                flat = np.frombuffer(data, dtype, count, at).copy() if count else np.empty(0, dtype)
                arrays[name] = flat if len(shape) == 1 else flat.reshape(shape)
                at += count * dtype.itemsize
            return header, arrays
        # A buffer of 64-bit numbers instead of bytes, so that it is aligned for all types.
        buffer = np.empty((payload + 7) // 8, dtype=np.int64).view(np.uint8)[:payload]
        have = min(len(data) - begin, payload)
        buffer[:have] = np.frombuffer(data, dtype=np.uint8, count=have, offset=begin)
        self._rest = data[begin + have :]
        view = buffer.data
        while have < payload:
            got = self.sock.recv_into(view[have:])
            if not got:
                raise EOFError
            have += got
        at = 0
        for name, kind, shape in header["arrays"]:
            at += -at & 7
            dtype = _TYPES[kind]
            count = math.prod(shape)
            end = at + count * dtype.itemsize
            flat = buffer[at:end].view(dtype)
            arrays[name] = flat if len(shape) == 1 else flat.reshape(shape)
            at = end
        return header, arrays

    def readable(self) -> bool:
        """Whether something is there to receive."""
        return bool(self._rest) or bool(self._poll.poll(0))

    def _some(self) -> bytes:
        data = self.sock.recv(1 << 16)
        if not data:
            raise EOFError
        return data

    def close(self) -> None:
        self.sock.close()
