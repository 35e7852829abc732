"""Words and indexes of DataFrames, in a stand-in for Spark. `make cluster-test` has the same with Spark itself."""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import collocate

pa = pytest.importorskip("pyarrow")


class Row(NamedTuple):
    kind: str
    key: int
    payload: str


class Column(str):
    def alias(self, _: str) -> Column:
        return self

    def isNotNull(self) -> Column:  # noqa: N802
        return self


class Frame:
    """As much of a DataFrame as is called, over tables that are its partitions."""

    made: list[Any] = []

    def __init__(self, parts: list[Any], types: list[tuple[str, str]] | None = None):
        self.parts, self.dtypes, self.sparkSession = parts, types or [("text", "string")], self

    def __getitem__(self, name: str) -> Column:
        return Column(name)

    def select(self, _: Column) -> Frame:
        return self

    def where(self, _: Column) -> Frame:
        return Frame([p.filter(p["text"].is_valid()) for p in self.parts])

    def mapInArrow(  # noqa: N802
        self, do: Callable[[Iterator[Any]], Iterable[Any]], _: str
    ) -> Frame:
        made = [list(do(iter(p.to_batches(max_chunksize=3)))) for p in self.parts]
        return Frame([pa.Table.from_batches(b) for b in made if b])

    def repartition(self, key: str) -> Frame:
        whole = pa.concat_tables(self.parts).to_pylist()
        parts = [[r for r in whole if r[key] % 3 == i] for i in range(3)]
        return Frame([pa.Table.from_pylist(p) for p in parts if p])

    def sortWithinPartitions(self, key: str) -> Frame:  # noqa: N802
        return Frame([p.sort_by(key) for p in self.parts])

    def toLocalIterator(self) -> Iterator[Row]:  # noqa: N802
        for p in self.parts:
            yield from (Row(**r) for r in p.to_pylist())

    def createDataFrame(self, rows: list[Any], _: str) -> list[Any]:  # noqa: N802
        return rows


def frame(texts: list[str | None], parts: int) -> Frame:
    return Frame([pa.table({"text": pa.array(texts[i::parts], pa.string())}) for i in range(parts)])


def corpus() -> list[str]:
    draw = random.Random(7)
    words = [f"w{i}" for i in range(40)] + ["Ünïcode", "don't", "line\nbreak"]
    return [" ".join(draw.choices(words, k=draw.randint(0, 60))) for _ in range(50)]


@pytest.mark.parametrize("parts", [1, 4])
def test_vocabulary_is_that_of_one_machine(parts: int) -> None:
    from collocate import spark

    texts = corpus()
    want = collocate.vocabulary(texts, analyzer="unicode", min_count=5)
    got: Any = spark.vocab(frame([*texts, None], parts), min_count=5)  # type: ignore[arg-type]
    assert got == [(i, w, int(n)) for i, (w, n) in enumerate(zip(want.words, want.counts))]


@pytest.mark.parametrize("weighting, window", [("distance", 18), ("count", 40)])
@pytest.mark.parametrize("side", ["both", "right"])
def test_matrix_is_that_of_one_machine(weighting: str, window: int, side: str) -> None:
    from collocate import spark

    texts = corpus()
    asked: dict[str, Any] = {"weighting": weighting, "window": window, "side": side, "min_count": 8}
    one = collocate.cooccurrence(texts, analyzer="unicode", **asked)
    want = one.matrix().tocoo()
    got: Any = spark.cooccur(frame([*texts], 4), **asked)  # type: ignore[arg-type]
    rows = [r for part in got.parts for r in part.to_pylist()]
    cells = {(r["id1"], r["id2"]): r["value"] for r in rows}
    assert len(rows) == len(cells) > 500
    assert cells == {(i, j): v for i, j, v in zip(want.row, want.col, want.data)}
    for r in rows:
        assert (r["word1"], r["word2"]) == (one.words[r["id1"]], one.words[r["id2"]])


class Rows:
    """As much of a DataFrame as `index` calls, over tables that are its partitions."""

    def __init__(self, parts: list[Any], task: dict[str, int]):
        self.parts, self.task, self.columns = parts, task, parts[0].column_names

    def select(self, *names: str) -> Rows:
        return Rows([p.select(names) for p in self.parts], self.task)

    def mapInArrow(  # noqa: N802
        self, do: Callable[[Iterator[Any]], Iterable[Any]], _: str
    ) -> Rows:
        made = []
        for self.task["number"], p in reversed(list(enumerate(self.parts))):
            made += do(iter(p.to_batches(max_chunksize=3)))
        return Rows([pa.Table.from_batches(made)], self.task)

    def collect(self) -> list[Any]:
        return [SimpleNamespace(**r) for p in self.parts for r in p.to_pylist()]


def rows(documents: list[dict[str, Any]], parts: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    task = {"number": 0}
    context = SimpleNamespace(get=lambda: SimpleNamespace(partitionId=lambda: task["number"]))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(TaskContext=context))
    whole = pa.Table.from_pylist(documents)
    size = -(-len(documents) // parts)
    return Rows([whole.slice(i * size, size) for i in range(parts)], task)


def test_index_answers_as_that_of_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collocate import spark

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    day = datetime.date(2026, 1, 2)
    documents: list[dict[str, Any]] = [
        {"url": f"d{i}", "text": t, "year": i if i % 3 else None, "day": day}
        for i, t in enumerate(corpus())
    ]
    fields = {"text": "text", "year": "number", "day": "date"}
    to = f"file://{tmp_path}/news"
    made = spark.index(rows(documents, 4, monkeypatch), to, id="url", fields=fields)
    assert made == {"index": to, "documents": 50, "segments": 4, "generation": 1}
    one = collocate.Index.build(documents, id_field="url", schema=fields)
    many = collocate.Index(to)
    for query in ("w1 w2 w3", "w7", "year:[10 TO 20]", "day:2026-01-02 w5"):
        want = one.search(query, k=50, syntax=True)
        got = many.search(query, k=50, syntax=True)
        assert [(h.id, h.score) for h in got] == [(h.id, h.score) for h in want]
        assert len(want) > 0
    again = [documents[0], {**documents[1], "url": "new"}]
    made = spark.index(rows(again, 2, monkeypatch), to, id="url", fields=fields)
    assert made["documents"] == 51 and made["generation"] == 2
    with pytest.raises(collocate.CollocateError, match="1 of its documents have IDs that other"):
        spark.index(rows([again[0]] * 2, 2, monkeypatch), to, id="url", fields=fields)
    with pytest.raises(collocate.CollocateError, match="the index has other fields"):
        spark.index(rows(again, 2, monkeypatch), to, id="url")
    assert len(collocate.Index(to).search("w1", k=60)) > 0


def test_index_refuses_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from collocate import spark

    df = rows([{"id": "a", "text": "b"}], 1, monkeypatch)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"to": "news"}, "to='news': want an address"),
        ({"id": "key"}, "no column 'key': id, text"),
        ({"text": "body"}, "no column 'body'"),
        ({"text": None}, "want a column with the texts"),
        ({"text": "id"}, "among those that are indexed"),
    ]
    for asked, said in wrong:
        with pytest.raises(ValueError, match=said):
            spark.index(df, **{"to": "file:///nowhere/news", **asked})


def test_what_cannot_be_is_said_before_anything_is_counted() -> None:
    from collocate import spark

    df: Any = frame(["a b"], 1)
    df.mapInArrow = None
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"text": "body"}, "no such column: text"),
        ({"weighting": "nearness"}, "want distance or count"),
        ({"window": 19}, "want 1 to 18 words"),
        ({"side": "up"}, "want both, left or right"),
        ({"min_count": 0}, "min_count=0"),
        ({"analyzer": "klingon"}, 'unknown analyzer "klingon"'),
    ]
    for asked, said in wrong:
        with pytest.raises((ValueError, collocate.CollocateError), match=said):
            spark.cooccur(df, **asked)
    with pytest.raises(ValueError, match="a column of bigint"):
        spark.vocab(Frame([], [("text", "bigint")]))  # type: ignore[arg-type]


def test_a_stage_that_fails_says_why() -> None:
    from collocate import spark

    with pytest.raises(collocate.CollocateError, match="standard input"):
        list(spark._run(["vocab", "reduce"], iter([b"v\t1\tbroken\n"] * 3)))
