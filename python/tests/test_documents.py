"""Documents of every kind: what is read of them, and what is refused by name."""

from __future__ import annotations

import itertools
import json
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import collocate
from collocate import CollocateWarning, Index

UNEVEN = [
    {"id": "a", "title": "x"},
    {"id": "b", "title": "y", "text": "zebra"},
    {"id": "c", "body": "lion", "abstract": None},
    {"docno": "d", "Text": ["one", "tiger"]},
]


def found(corpus, *queries, **options):
    with Index.build(corpus, **options) as index:
        return [sorted(index.search(q).ids) for q in queries]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_each_document_is_read_by_its_own_fields(order):
    corpus = [UNEVEN[i] for i in order]
    wanted = [["a"], ["b"], ["b"], ["c"], ["d"]]
    assert found(corpus, "x", "y", "zebra", "lion", "tiger") == wanted
    assert found(iter(corpus), "x", "y", "zebra", "lion", "tiger") == wanted


def test_uneven_documents_give_what_the_command_gives(command, tmp_path):
    for number, corpus in enumerate((UNEVEN, UNEVEN[::-1])):
        file, out = tmp_path / f"{number}.jsonl", tmp_path / f"{number}"
        file.write_text("".join(json.dumps(d) + "\n" for d in corpus))
        run = [*command, "index", str(file), "--out", str(out), "--store-text", "-q"]
        subprocess.run(run, check=True)
        with Index.open(out) as theirs, Index.build(corpus, store_text=True) as ours:
            assert ours.ids(range(4)).tolist() == theirs.ids(range(4)).tolist()
            assert ours.texts(range(4)) == theirs.texts(range(4))


def test_fields_that_come_late():
    corpus = [{"id": i, "title": "x"} for i in range(600)]
    corpus.append({"id": "late", "title": "y", "text": "zebra", "year": 1999})
    told = "after the first 16 documents text is also text; left out is also year"
    with pytest.warns(CollocateWarning, match=told):
        assert found(iter(corpus), "zebra") == [["late"]]
    with pytest.warns(CollocateWarning, match=told):
        collocate.cooccurrence(corpus)  # reads them twice, and says it once


def test_added_documents_are_read_by_their_own_fields():
    with Index.build([{"id": "a", "title": "x"}]) as index:
        assert index.add(UNEVEN) == (4, 1)
        assert index.add(UNEVEN[::-1]) == (4, 4)
        assert [sorted(index.search(q).ids) for q in ("zebra", "lion", "tiger")] == [
            ["b"], ["c"], ["d"],
        ]  # fmt: skip


def test_added_documents_with_the_same_id_are_refused_with_what_add_offers():
    twice = [{"id": "b", "text": "x"}, {"id": "b", "text": "y"}]
    with Index.build([{"id": "a", "text": "x"}]) as index:
        with pytest.raises(ValueError, match='have the same ID "b": leave one out.*id_field') as told:
            index.add(twice)
        assert "duplicate" not in str(told.value)  # an option that only build has
        assert index.search("x").ids == ["a"]


def test_contents_are_the_whole_text_in_all_documents_or_in_none():
    whole, parts = {"id": 1, "contents": "c"}, {"id": 2, "title": "t"}
    for corpus in ([whole, parts], [parts, {**whole, "title": "u"}]):
        with pytest.raises(ValueError, match="document 1: has .*: name all fields .*fields="):
            Index.build(corpus)
    assert found([{"id": 2, "contents": None, "title": "t"}], "t") == [["2"]]


def test_all_documents_have_an_id_or_none_has():
    named, bare = {"id": 1, "text": "x"}, {"text": "y"}
    with pytest.raises(ValueError, match="document 1: has no ID, but"):
        Index.build([named, bare])
    with pytest.raises(ValueError, match="document 1: has an ID, but"):
        Index.build([bare, named])
    schema = ["text:text", "year:number"]
    assert found([bare, {"text": "z", "year": 3}], "y", "z", schema=schema) == [["0"], ["1"]]
    assert found([bare, {"text": "z", "year": 3}], "z", schema=",".join(schema)) == [["1"]]
    with pytest.raises(ValueError, match="fields with types are schema="):
        Index.build([named], fields=",".join(schema))
    with Index.build([named], schema=schema[:1]) as index:
        with pytest.raises(ValueError, match="document 0: has no ID"):
            index.add([bare])
        with pytest.raises(ValueError, match="the index has a schema"):
            index.add([named], fields=["text"])


def test_fields_that_no_document_has():
    with pytest.raises(ValueError, match="abstrct"):
        Index.build([{"id": 1, "text": "u"}], fields=["text", "abstrct"])
    with pytest.raises(ValueError, match="document 0: has no ID in id_field='kye'"):
        Index.build([{"id": 1, "text": "u"}], id_field="kye")
    with pytest.warns(CollocateWarning, match="have no effect"):
        Index.build(["u"], fields=["text"]).close()
    deep = [{"id": 1, "paper": {"title": "deep"}}, {"id": 2, "paper": [{"title": "sea"}]}]
    assert found(deep, "deep", "sea", fields="paper.title") == [["1"], ["2"]]


def test_mappings_of_mixed_values():
    corpus = {"a": "one", "b": {"text": "zebra"}, 3: ["two", "paragraphs"]}
    assert found(corpus, "one", "zebra", "paragraphs") == [["a"], ["b"], ["3"]]
    assert found([("a", {"id": "other", "text": "x"})], "x") == [["a"]]


@pytest.mark.parametrize(
    "corpus",
    [
        ["x", None],
        ["x", float("nan")],
        [("a", "x"), ("b", None)],
        {"a": "x", "b": None},
        [{"id": "a", "text": "x"}, {"id": "b", "text": None}],
        np.array(["x", None], dtype=object),
    ],
)
def test_a_document_without_text_is_named(corpus):
    with pytest.raises(ValueError, match="document 1.*: has no text: .*leave it out, or give it"):
        Index.build(corpus)
    with pytest.raises(ValueError, match="document 1"):
        collocate.ngrams(corpus)


@pytest.mark.parametrize(
    "corpus, says",
    [
        (b"a text", "the corpus is bytes: decode it"),
        (5, "the corpus is of type int"),
        (np.array("a text"), "the corpus is of type ndarray"),
        ([b"a text"], "decode bytes first"),
        ([(b"a", "x")], "document 0: its ID is bytes"),
        ([(("a", "b"), "x")], "document 0: its ID is of type tuple"),
        ([{"id": 1, "text": {"en": "x"}}], "document 0: its field 'text' is of type dict"),
        ([{"id": 1, "text": {"x"}}], "document 0: its field 'text' is of type set"),
        ([("a", "x"), ("b", "c", "d")], "document 1 is a tuple of 3: want a pair"),
        ([["a", "b"], ["c", "d", "e"]], "document 1 is a list of 3: want a pair"),
        ([Path("x"), "y"], "PosixPath"),
    ],
)
def test_what_is_no_document_is_named(corpus, says):
    with pytest.raises(TypeError, match=says):
        Index.build(corpus)


def test_what_is_no_id_is_named():
    for corpus in ([("", "x")], [(None, "x")], {None: "x"}, [{"id": 1, "text": "x"}, {"text": ""}]):
        with pytest.raises(ValueError, match="document [01]: has no ID"):
            Index.build(corpus)
    assert found([(uuid.UUID(int=3), "x")], "x") == [[str(uuid.UUID(int=3))]]
    with pytest.raises(ValueError, match="document 1: is not valid Unicode"):
        Index.build(["x", "\ud800"])
    with pytest.raises(TypeError, match="document 0: a value is bytes"):
        Index.build([{"id": 1, "text": b"x"}], schema=["text:text"])


def test_the_index_of_a_series_has_the_ids():
    pd = pytest.importorskip("pandas")
    texts = pd.Series(["a cat", "a dog", "a bird"])
    assert found(texts, "dog") == [["1"]]
    assert found(texts[1:], "dog", "bird") == [["1"], ["2"]]
    assert found(texts.set_axis(["x", "y", "z"]), "bird") == [["z"]]
    assert found(pd.Series([{"text": "cat"}, {"text": "dog"}], index=[7, 8]), "dog") == [["8"]]
    frame = pd.DataFrame({"text": texts})
    assert found(frame[1:], "dog") == [["1"]]
    assert found(frame[1:], "dog", schema=["text:text"]) == [["1"]]
    repeated = pd.concat([texts, texts])
    with pytest.raises(ValueError, match="the label 0 more than once"):
        Index.build(repeated)
    assert collocate.vocabulary(repeated)["cat"] == 2
    levels = pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 1)])
    with pytest.raises(ValueError, match="the index of the Series has 2 levels"):
        Index.build(texts.set_axis(levels))
    with Index.build(texts) as index:
        with pytest.raises(ValueError, match="need IDs"):
            index.add(texts)  # its index only numbers rows
        assert index.add(texts[2:]) == (1, 1)


def test_missing_values_of_tables():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": ["x", "y", "z"], "title": ["one", None, None],
                          "text": ["cat", "dog", pd.NA]})  # fmt: skip
    assert found(frame[:2], "one", "dog") == [["x"], ["y"]]
    with pytest.raises(ValueError, match=r"document 2 \(ID 'z'\): has no text"):
        Index.build(frame)
    with pytest.raises(ValueError, match="no columns are named 'nope'"):
        Index.build(frame[:2], fields=["text", "nope"])
    with pytest.raises(ValueError, match="2 columns are named 'text'"):
        Index.build(pd.DataFrame([["a", "b"]], columns=["text", "text"]))
    assert found(pd.DataFrame([["a", "b"]]), "b", fields=["1"]) == [["0"]]
    dates = pd.DataFrame({"text": ["t", "u"], "year": pd.array([1, pd.NA], dtype="Int64"),
                          "day": [pd.Timestamp("2020-01-01"), pd.NaT]})  # fmt: skip
    schema = ["text:text", "year:number", "day:date"]
    assert found(dates, "u", schema=schema) == [["1"]]


def test_tables_of_polars_and_pyarrow():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    columns = {"id": [1, 2], "text": ["cat", "dog"]}
    for table in (pl.DataFrame(columns), pa.table(columns)):
        assert found(table, "dog") == [["2"]]
        assert found(table, "dog", schema=["text:text"]) == [["2"]]
    for texts in (pl.Series(columns["text"]), pa.array(columns["text"])):
        assert found(texts, "dog") == [["1"]]
    with pytest.raises(TypeError, match="collect"):
        Index.build(pl.DataFrame(columns).lazy())


@dataclass
class Paper:
    id: str
    text: str


def test_rows_dataclasses_and_open_files(tmp_path):
    pd = pytest.importorskip("pandas")
    assert found([Paper("a", "cat")], "cat", "a") == [["a"], []]
    rows = pd.DataFrame({"id": ["x", "y"], "text": ["a cat", "a dog"]})
    assert found(rows.iterrows(), "dog", "x") == [["y"], []]
    assert found((row for _, row in rows.iterrows()), "dog") == [["y"]]
    file = tmp_path / "papers.jsonl"
    file.write_text('{"id": "a", "text": "cat"}')
    with open(file) as lines, pytest.warns(CollocateWarning, match="pass its path"):
        Index.build(lines).close()


def test_ids_of_other_types():
    with Index.build([(1, "one"), (2, "two"), ("x", "three")]) as index:
        assert 2 in index and index.find(1).tolist() == [0]
        assert index.delete(2) == 1 and index.delete(np.int64(1)) == 1
        for ids in (b"x", [b"x"], [None], [("x",)]):
            with pytest.raises(TypeError, match="ID"):
                index.delete(ids)
        assert index.delete(i for i in ["x"]) == 1


def test_deleted_documents_do_not_count():
    with Index.build((str(i), "word") for i in range(10)) as index:
        assert index.delete(["3", "4"]) == 2
        assert len(index) == 8 and "8 documents" in repr(index)
        assert len(index.search("word", k=100)) == 8
        assert index.stats["documents"] == 10 and index.stats["deleted"] == 2


def test_columns_without_values_and_numbers_without_end():
    schema = ["title:text", "year:number", "tags:keyword"]
    rows = [{"id": "a", "title": "x", "year": None, "tags": float("nan")}]
    index = Index.build(rows, schema=schema)
    assert index.search("x", 5).fields(["title", "year"]) == [{"title": "x"}]
    for value in (float("inf"), [1.0, float("nan")]):
        rows = [rows[0], {"id": "b", "title": "x", "year": value, "tags": "t"}]
        with pytest.raises(ValueError, match="document 1: a number is infinite"):
            Index.build(rows, schema=schema)
