"""Progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Union

from ._worker import Progress

# True, False, a function (stage, done, total), or None, which shows bars on terminals and in
# notebooks.
ProgressOption = Union[bool, Progress, None]


@contextmanager
def bar(option: ProgressOption, what: str, unit: str = "B") -> Iterator[Progress | None]:
    """What is told of progress while a call is under way."""
    if callable(option):
        yield option
        return
    if option is False or option is None and not _watched():
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if option:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from None
        yield None
        return
    bars: dict[str, Any] = {}

    def tell(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            for b in bars.values():
                b.close()
            bars[stage] = tqdm(
                desc=stage, total=total or None, unit=unit, unit_scale=True,
                unit_divisor=1000, delay=1, leave=False,
            )  # fmt: skip
        b = bars[stage]
        b.update(done - b.n)

    try:
        yield tell
    finally:
        for b in bars.values():
            b.close()


def _watched() -> bool:
    if "IPython" in sys.modules:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell":
            return True
    return bool(getattr(sys.stderr, "isatty", lambda: False)())
