"""Functions whose parameters are declared: they take these as **asked, a class of _questions.py."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable
from textwrap import fill as wrap
from typing import Any, TypeVar, cast

from ._questions import (
    Files,
    InArea,
    Names,
    Outline,
    Path,
    Points,
    Resources,
    Rows,
    Splitting,
)

F = TypeVar("F", bound=Callable[..., Any])


def asks(question: Any) -> Callable[[F], F]:
    """Gives a function the names, defaults and help of a question's parameters.

    It gets those that were given, without None, as the worker takes them.
    """
    own_first = sorted(question.__annotations__.items(), key=_is_shared)
    declared = {name: kind.__metadata__ + (kind.__origin__,) for name, kind in own_first}

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            for name in options:
                if name not in declared and name not in own.parameters:
                    raise TypeError(f"{function.__qualname__} has no argument {name}")
            for name in [n for n in options if n in declared]:
                if (value := options.pop(name)) is not None:
                    options[name.rstrip("_")] = _plain(value, declared[name][2])
            return function(*args, **options)

        here = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        here += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                                   annotation=kind)
                 for name, (default, _, kind) in declared.items()]  # fmt: skip
        call.__signature__ = own.replace(parameters=here)  # type: ignore[attr-defined]
        told = [wrap(f"{name}: {help_}.", 100, initial_indent=" " * 4, subsequent_indent=" " * 8)
                for name, (_, help_, _) in declared.items()]  # fmt: skip
        call.__doc__ = "\n".join([(function.__doc__ or "").rstrip(), *told, "    "])
        return cast(F, call)

    return decorate


def _is_shared(one: tuple[str, Any]) -> bool:
    """Whether many questions have a parameter, which is then not among the first."""
    classes = (Points, InArea, Files, Splitting, Resources)
    return any(one[0] in c.__annotations__ for c in classes)


def _plain(value: Any, kind: Any) -> Any:
    """A value as JSON has it. The worker has another folder, so files get their whole path."""
    if isinstance(value, os.PathLike):
        return os.path.abspath(os.fspath(value))
    if kind in (Path, Outline, Rows) and isinstance(value, str) and os.path.exists(value):
        return os.path.abspath(value)
    if kind is Outline and hasattr(value, "__geo_interface__"):
        return _outline(value)
    if kind is Names and not isinstance(value, (str, list)) and hasattr(value, "__iter__"):
        return list(value)
    return value


def _outline(shape: Any) -> str:
    """Polygons of geopandas or shapely as text. Without a reference system they have that of the
    points."""
    crs = getattr(shape, "crs", None)
    if crs is None:
        return "\n".join(one.wkt for one in getattr(shape, "geometry", [shape]))
    known = crs.to_epsg()
    if known is None:
        shape = shape.to_crs(4326)
    named = {"crs": {"type": "name", "properties": {"name": f"EPSG:{known or 4326}"}}}
    return json.dumps({**shape.geometry.__geo_interface__, **named})
