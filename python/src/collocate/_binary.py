"""Where the program is, and the command `collocate`, which is the program itself."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def find_binary() -> str:
    """The program of this package; COLLOCATE_BINARY names another one."""
    named = os.environ.get("COLLOCATE_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"COLLOCATE_BINARY={named}: not an executable program")
        return named
    inside = Path(__file__).parent / "bin" / "collocate"
    if inside.exists():
        return str(inside)
    # An editable checkout may have no program inside. A script `collocate` on the PATH is this
    # package's own command, which would call itself.
    beside = shutil.which("collocate")
    if beside and not _is_script(beside):
        return beside
    raise FileNotFoundError(
        f"{inside} is missing: install the package with pip, or set COLLOCATE_BINARY"
    )


def _is_script(path: str) -> bool:
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def main() -> None:
    """The command `collocate`: becomes the program."""
    try:
        binary = find_binary()
    except FileNotFoundError as err:
        sys.exit(f"collocate: {err}")
    os.execv(binary, ["collocate", *sys.argv[1:]])
