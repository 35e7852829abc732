from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def docs() -> list[str]:
    return [
        "a cat is a feline and likes to purr",
        "a dog is the human's best friend and loves to play",
        "a bird is a beautiful animal that can fly",
        "a fish is a creature that lives in water and swims",
    ]


@pytest.fixture(scope="session")
def index(docs: list[str]):
    from collocate import Index

    with Index.build(docs, analyzer="english", store_text=True) as ix:
        yield ix


@pytest.fixture(scope="session")
def command() -> list[str]:
    from collocate._binary import find_binary

    return [find_binary()]


def workers() -> set[int]:
    """The worker processes of this machine that belong to this process or have no parent."""
    out = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True).stdout
    mine = {os.getpid(), 1}
    return {
        int(pid)
        for pid, ppid, args in (line.split(None, 2) for line in out.splitlines())
        if "worker --descriptor" in args and int(ppid) in mine
    }
