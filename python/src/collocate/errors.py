"""Exceptions and warnings."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from importlib import import_module
from typing import Any

# Files of this package and of contextlib, whose lines are not the caller's.
_INNER = (os.path.dirname(__file__) + os.sep, contextlib.__file__)


class CollocateError(Exception):
    """Something went wrong; the message says what and where."""


class WorkerError(CollocateError):
    """The worker process ended in the middle of a call. The next call starts a new one."""


class NoGPUError(CollocateError):
    """A GPU was requested, and none works."""


class CollocateWarning(UserWarning):
    """Something was guessed or left out; the message says what."""


def warn(message: str) -> None:
    """Warns, with the line of the caller's program that called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INNER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CollocateWarning, stacklevel=level)


def need(module: str, extra: str) -> Any:
    """Imports an optional module, or says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as err:
        if err.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f'this needs {err.name}: pip install "collocate[{extra}]"', name=err.name
        ) from None


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
