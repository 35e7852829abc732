"""The loops of docs/assistants.md, as they stand there, on a folder of notes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import CHECKOUT

GUIDE = (CHECKOUT / "docs" / "assistants.md").read_text()
LOOPS = dict(zip(["LangChain", "LlamaIndex", "HTTP", "BM25Retriever", "bm25s"],
                 re.findall(r"```python\n(.*?)```", GUIDE, re.S)))
NOTES = {
    "sky/sun.md": "# The sun\n\nThe sun is a star.\n\n## Eclipse\n\nAn eclipse is the shadow of the moon.\n",
    "sky/moon.md": "# The moon\n\nThe moon is full once a month, and new once a month.\n",
    "garden.md": "# Garden\n\nBeans grow in May, and peas before them.\n",
}


@pytest.fixture
def notes(tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    subprocess.run([*command, "-q", "sync", "notes", "notes.index", "--passages", "200"], check=True)
    return tmp_path


def run(loop: str) -> list:
    names: dict = {"__name__": loop}
    exec(LOOPS[loop], names)
    return names["found"]


def test_langchain(notes: Path) -> None:
    pytest.importorskip("langchain_core")
    best = run("LangChain")[0]
    assert best.id == "sky/sun.md#1" and "shadow of the moon" in best.page_content
    assert best.metadata["path"] == "sky/sun.md"


def test_llama_index(notes: Path) -> None:
    pytest.importorskip("llama_index.core")
    best = run("LlamaIndex")[0]
    assert best.node.node_id == "sky/sun.md#1" and "shadow of the moon" in best.node.text and best.score > 0


def test_plain_http(notes: Path, command: list[str]) -> None:
    server = subprocess.Popen([*command, "serve", "notes.index", "--addr", "127.0.0.1:0", "--json"],
                              stdout=subprocess.PIPE, text=True, env={**os.environ})
    try:
        assert server.stdout is not None
        said = ""
        while not (at := re.search(r'"url": ?"([^"]+)"', said)):
            line = server.stdout.readline()
            assert line, said
            said += line
        names: dict = {}
        exec(LOOPS["HTTP"].replace("http://127.0.0.1:8080", at[1]), names)
        assert names["found"][0]["id"] == "sky/sun.md#1"
        assert "[sky/sun.md#1] # The sun" in names["prompt"] and names["prompt"].endswith("eclipse?")
    finally:
        server.terminate()
        server.wait()


def test_bm25_retriever(notes: Path) -> None:
    pytest.importorskip("rank_bm25")
    pytest.importorskip("langchain_community")
    assert len(run("BM25Retriever")) == 3


def test_bm25s(notes: Path) -> None:
    pytest.importorskip("bm25s")
    assert run("bm25s")[0][0] == "notes/sky/sun.md#0"


def test_lines_are_counted() -> None:
    rows = re.findall(r"^\| (?:Collocate, )?(\w+) \| (\d+) \|", GUIDE, re.M)
    counted = {name: sum(1 for line in code.splitlines() if line.strip()) for name, code in LOOPS.items()}
    assert {name: int(n) for name, n in rows} == counted
