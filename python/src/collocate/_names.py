"""Older names of arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .errors import warn

F = TypeVar("F", bound=Callable[..., Any])


def renamed(**newer: str) -> Callable[[F], F]:
    """Lets arguments be given by their older names, with a warning that has the newer one."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            for old, new in newer.items():
                if old in options:
                    if new in options:
                        raise TypeError(f"{old}= means the same as {new}=: give only one of them")
                    warn(f"{old}= is now {new}=")
                    options[new] = options.pop(old)
            return function(*args, **options)

        return cast(F, call)

    return decorate
