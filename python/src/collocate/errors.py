"""Exceptions and warnings."""

from __future__ import annotations


class CollocateError(Exception):
    """Something went wrong; the message says what and where."""


class WorkerError(CollocateError):
    """The worker process ended in the middle of a call. The next call starts a new one."""


class NoGPUError(CollocateError):
    """A GPU was asked for, and there is none."""


class CollocateWarning(UserWarning):
    """Something was guessed or left out."""


def exception(kind: str, message: str) -> Exception:
    """The exception of an error that the worker reports."""
    if kind == "value":
        return ValueError(message)
    if kind == "missing":
        return FileNotFoundError(message)
    if kind == "permission":
        return PermissionError(message)
    if kind == "gpu":
        return NoGPUError(message)
    return CollocateError(message)
