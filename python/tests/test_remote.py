"""A server on this machine, asked over HTTP."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

import collocate


@pytest.fixture(scope="module")
def server(tmp_path_factory, command):
    """A server with two indexes and a token, whose clients may change them."""
    root: Path = tmp_path_factory.mktemp("remote")
    texts = {"c": "a cat and a dog", "d": "a dog, a dog", "b": "a bird", "h": "a horse"}
    pets = [{"id": id, "text": text} for id, text in texts.items()]
    for name, docs in {"pets": pets, "fish": [{"id": "f", "text": "a fish"}]}.items():
        collocate.Index.build(docs, root / name, analyzer="english", store_text=True).close()
    (root / "token").write_text("read abc reader\nwrite xyz writer\n")
    args = ["serve", root / "pets", root / "fish", "--addr", "127.0.0.1:0", "--json", "--writable"]
    with subprocess.Popen(
        [*command, *args, "--token-file", root / "token"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield json.loads(said)["url"]
        finally:
            process.terminate()


def test_search(server):
    remote = collocate.connect(server, token="abc")
    found = remote.search("dog", k=5, snippets=True)
    assert [h["id"] for h in found.hits] == ["d", "c"]
    assert "dog" in found.hits[0]["snippet"]["text"]
    assert list(found.to_pandas()["id"]) == ["d", "c"]
    assert [h["id"] for h in remote.search("dog", from_=1).hits] == ["c"]


def test_no_hits_and_all_hits(server):
    remote = collocate.connect(server, token="abc")
    none = remote.search("dog", k=0)
    assert none.hits == [] and none.total == 2
    found = remote.search_all("dog a")
    first = next(found)
    assert remote.search("cat").hits[0]["id"] == "c"  # in between
    assert [first, *found] == remote.search("dog a", k=10).hits
    assert [h.rank for h in remote.search_all("nothing")] == []
    with pytest.raises(ValueError, match="rows have no place"):
        next(remote.search_all("dog", stats=True))


def test_several_queries(server):
    remote = collocate.connect(server, token="abc")
    cats, dogs = remote.search(["cat", "dog"], k=1)
    assert cats.hits[0]["id"] == "c" and dogs.hits[0]["id"] == "d"


def test_one_of_several_indexes(server):
    assert collocate.connect(server, index="fish", token="abc").search("fish").hits[0]["id"] == "f"
    with pytest.raises(LookupError, match="bird"):
        collocate.connect(server, index="bird", token="abc").search("fish")


def test_questions_are_those_of_the_server(server):
    remote = collocate.connect(server, token="abc")
    assert {"search", "concordance", "keywords", "status"} <= set(dir(remote))
    lines = remote.concordance(q="cat").lines
    assert len(lines) == 1
    assert "window" in remote.concordance.__doc__
    with pytest.raises(TypeError, match="unknown parameter widnow: want "):
        remote.concordance(q="cat", widnow=3)
    with pytest.raises(AttributeError, match="no question concordances"):
        remote.concordances(q="cat")
    assert remote.document("c").text == "a cat and a dog"


def test_documents_in_and_out(server):
    remote = collocate.connect(server, index="fish", token="xyz")
    remote.add([{"id": "s", "text": "a shark is a fish"}])
    assert {h["id"] for h in remote.search("fish").hits} == {"f", "s"}
    remote.delete("s")
    assert [h["id"] for h in remote.search("fish").hits] == ["f"]
    with pytest.raises(LookupError, match="no document"):
        remote.delete("s")
    remote.add([{"id": n, "text": "a shark is a fish"} for n in ("r", "s", "t", "u")])
    assert remote.delete(["r", "none", "s"]).deleted == 2
    with pytest.warns(collocate.CollocateWarning, match="id= is now ids="):
        assert remote.delete(id="t").deleted == 1
    assert remote.delete(query="shark").deleted == 1
    assert [h["id"] for h in remote.search("fish").hits] == ["f"]
    assert remote.delete([]).deleted == 0
    with pytest.raises(ValueError, match="excludes IDs"):
        remote.delete("f", query="fish")
    with pytest.raises(TypeError, match="want a str"):
        remote.delete([1])
    with pytest.raises(LookupError, match="bird"):
        collocate.connect(server, index="bird", token="xyz").delete(["f"])
    with pytest.raises(PermissionError):
        collocate.connect(server, index="fish", token="abc").add([{"id": "x", "text": "no"}])


def test_mistakes(server):
    with pytest.raises(PermissionError):
        collocate.connect(server, token="wrong").search("dog")
    remote = collocate.connect(server, token="abc")
    with pytest.raises(ValueError, match="k -1"):
        remote.search("dog", k=-1)
    with pytest.warns(collocate.CollocateWarning, match="zebra"):
        remote.search("zebra")
    with pytest.raises(ValueError, match="want http"):
        collocate.connect("ftp://example.org")
    with pytest.raises(collocate.CollocateError, match="127.0.0.1:1"):
        collocate.connect("http://127.0.0.1:1")


def test_threads(server):
    remote = collocate.connect(server, token="abc")
    found: list[str] = []

    def ask():
        found.extend(remote.search("dog").hits[0]["id"] for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == ["d"] * 80
