from __future__ import annotations

import json
import pickle
import subprocess
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import collocate
from collocate import CollocateError, CollocateWarning, Hit, Index


def test_one_query(index):
    hits = index.search("does a fish purr like a cat?", k=2)
    assert [h.id for h in hits] == ["0", "3"]
    assert hits.docs.tolist() == [0, 3]
    assert hits.scores.dtype == np.float32
    assert isinstance(hits[0], Hit) and hits[0].doc == 0
    assert "0" in repr(hits)
    assert len(index.search("unknownword")) == 0


def test_many_queries_equal_one_by_one(index):
    queries = ["cat", "dog bird", "nothing of this", "", "a is", "fish water cat"] * 50
    batch = index.search(queries, k=3)
    assert len(batch) == len(queries)
    for q, hits in zip(queries, batch):
        alone = index.search(q, k=3)
        assert hits.query == q
        assert hits.docs.tolist() == alone.docs.tolist()
        assert hits.scores.tolist() == alone.scores.tolist()
        assert hits.ids.tolist() == alone.ids.tolist()
    docs, scores = batch.matrix()
    assert docs.shape == scores.shape == (len(queries), 3)
    assert docs[0].tolist() == [0, -1, -1] and scores[0, 1] == 0
    assert batch[-1].query == queries[-1]
    with pytest.raises(IndexError):
        batch[len(queries)]
    assert len(index.search([])) == 0
    assert index.search(["cat"])[0].ids.tolist() == ["0"]
    assert [len(h) for h in index.search(q for q in ["cat", "x"])] == [1, 0]


def test_the_same_as_the_command(index, docs, command, tmp_path):
    corpus = tmp_path / "docs.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": str(i), "contents": d}) + "\n" for i, d in enumerate(docs))
    )
    out = tmp_path / "index"
    run = [*command, "index", str(corpus), "--analyzer", "english", "--out", str(out), "-q"]
    subprocess.run(run, check=True)
    for options in [{}, {"mode": "and"}, {"model": "dirichlet", "mu": 500}, {"k1": 0.9, "b": 0.4}]:
        args = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        run = [*command, "search", str(out), "a cat is a fish", "--json", *args]
        printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
        with Index.open(out) as same:
            for ix in (index, same):
                hits = ix.search("a cat is a fish", **options)
                assert [h["id"] for h in printed["hits"]] == hits.ids.tolist()
                assert [h["score"] for h in printed["hits"]] == pytest.approx(hits.scores.tolist())


Doc = namedtuple("Doc", "doc_id title text")


@pytest.mark.parametrize(
    "corpus",
    [
        [("x", "one cat"), ("y", "two dogs")],
        ((i, t) for i, t in [("x", "one cat"), ("y", "two dogs")]),
        [{"id": "x", "contents": "one cat"}, {"id": "y", "contents": "two dogs"}],
        [
            {"_id": "x", "title": "one", "text": "cat"},
            {"_id": "y", "title": "", "text": "two dogs"},
        ],
        [Doc("x", "one", "cat"), Doc("y", "two", "dogs")],
    ],
)
def test_documents_of_many_kinds(corpus):
    with Index.build(corpus, analyzer="english", store_text=True) as ix:
        assert ix.search("cat").ids.tolist() == ["x"]
        assert ix.search("dog").ids.tolist() == ["y"]
        assert " ".join(ix.texts([0])[0].split()) == "one cat"


def test_paths(tmp_path, docs):
    corpus = tmp_path / "docs.txt"
    corpus.write_text("\n".join(docs))
    for given in (corpus, str(corpus), [corpus]):
        with Index.build(given, format="lines") as ix:
            assert ix.search("cat").ids.tolist() == ["docs.txt:1"]
    with Index.build(corpus, tmp_path / "kept", format="lines"):
        pass
    assert (tmp_path / "kept").is_dir()
    assert len(Index.open(tmp_path / "kept")) == 4
    assert len(Index.build([])) == 0


def test_temporary_folders_are_removed(docs):
    ix = Index.build(docs)
    path = Path(ix.path)
    assert path.is_dir()
    ix.close()
    assert not path.exists()
    with pytest.raises(ValueError, match="closed"):
        ix.search("cat")
    forgotten = Index.build(docs)
    path = Path(forgotten.path)
    del forgotten
    assert not path.exists()


def test_left_out_fields_are_told():
    with pytest.warns(CollocateWarning, match="left out: year"):
        Index.build([{"id": 1, "text": "cat", "year": 2000}]).close()
    Index.build([{"id": 1, "text": "cat", "year": 2000}], fields=["text"]).close()


def test_mistakes(index, tmp_path, docs):
    with pytest.raises(FileNotFoundError, match="put documents into a list"):
        Index.build("a cat is a feline")
    with pytest.raises(FileNotFoundError):
        Index.open(tmp_path / "none")
    with pytest.raises(ValueError, match="is a server, not a folder with an index"):
        Index.open("http://localhost:8080/")
    with pytest.raises(ValueError, match="klingon"):
        Index.build(docs, analyzer="klingon")
    with pytest.raises(ValueError, match="ID"):
        Index.build([("x", "one"), ("x", "two")])
    with pytest.raises(TypeError, match="document 1 is of type int"):
        Index.build(["one", 2])
    with pytest.raises(TypeError, match="documents are of type int"):
        Index.build([1, 2])
    with pytest.raises(ValueError, match="fields="):
        Index.build([{"id": 1, "words": "x"}])
    with pytest.raises(ValueError, match="format"):
        Index.build(docs, format="lines")
    with pytest.raises(ValueError, match="k -1"):
        index.search("cat", k=-1)
    with pytest.raises(ValueError, match="xor"):
        index.search(["cat"], mode="xor")
    with pytest.raises(ValueError, match="belong"):
        index.search("cat", model="dph", k1=1.0)
    with pytest.raises(KeyError, match="nobody"):
        index.explain("cat", "nobody")
    with pytest.raises(UnicodeEncodeError):
        index.search("\ud800")
    assert not list(tmp_path.iterdir())


def test_a_generator_that_fails(tmp_path):
    def documents():
        yield "one"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="database"):
        Index.build(documents(), tmp_path / "index")
    assert not list(tmp_path.iterdir())


def test_an_error_in_the_middle_of_many_documents(tmp_path):
    endless = ((str(i % 3000), "text " * 200) for i in range(100_000))
    with pytest.raises(ValueError, match="ID"):
        Index.build(endless, tmp_path / "index", memory=100_000_000)


def test_snippets_and_explanations(index):
    hits = index.search("purrs, cats and dogs", k=2)
    first = hits.snippets(size=80)[0]
    assert str(first) == "a *cat* is a feline *and* likes to *purr*"
    assert first._repr_html_().count("<b>") == 3
    why = hits.explain()[0]
    assert why.score == pytest.approx(hits[0].score)
    assert sum(w["score"] for w in why.words) == pytest.approx(why.score)
    assert why.documents == len(index) and why.mean_length > 0
    assert index.explain("cat", "0")[0].words[0]["word"] == "cat"
    umlaut = Index.build(["Größe über alles"], store_text=True)
    assert str(umlaut.search("über").snippets()[0]) == "Größe *über* alles"
    with Index.build(["no text"]) as bare, pytest.raises(ValueError, match="store_text=True"):
        bare.search("text").snippets()


def test_add_and_delete(tmp_path):
    ix = Index.build([("a", "one cat"), ("b", "two dogs")], tmp_path / "index")
    before = ix.search(["cat", "dogs"])
    many = ix.search("cat dogs", k=1000)
    assert ix.add([("c", "three cats"), ("b", "a cat, too")]) == (2, 1)
    assert len(ix) == 3
    assert sorted(ix.search("cat").ids) == ["a", "b"]
    assert ix.search("dogs").ids.tolist() == []
    assert many.ids.tolist() == ["a", "b"]  # known before
    with pytest.raises(ValueError, match="search again"):
        before.ids  # noqa: B018
    other = Index.open(tmp_path / "index")
    assert ix.delete(["a", "nobody"]) == 1
    assert ix.search("cat").ids.tolist() == ["b"]
    assert sorted(other.search("cat").ids) == ["a", "b"]
    other.refresh()
    assert other.search("cat").ids.tolist() == ["b"]
    with pytest.raises(ValueError, match="need IDs"):
        ix.add(["a text without an ID"])
    assert ix.delete([]) == 0
    assert ix.find(["c", "a"])[1] == -1


def test_an_index_in_a_bucket(tmp_path):
    """Here one in a folder, in the same format. Two of them change it at once."""
    address = f"file://{tmp_path}/news"
    with pytest.raises(FileNotFoundError, match="no index here"):
        Index.open(address)
    with pytest.raises(FileNotFoundError, match="no such bucket or folder"):
        Index.open(f"file://{tmp_path}/nowhere/news")
    with Index.build({"a": "one cat", "b": "two dogs"}, address) as ix, Index(address) as other:
        with pytest.raises(CollocateError, match="there is an index already"):
            Index.build({"a": "one cat"}, address)
        assert ix.path == address
        assert ix.add({"c": "three cats", "b": "a cat, too"}) == (2, 1)
        assert other.add({"d": "the cat"}) == (1, 0)  # without having seen it
        assert sorted(other.search("cat").ids) == ["a", "b", "d"]
        assert ix.delete(["a", "nobody"]) == 1 and ix.delete(query="cats") == 1
        other.refresh()
        assert sorted(other.search("cat").ids) == ["b", "d"] and len(other) == 2
        with pytest.raises(ValueError, match="compacted where it is"):
            ix.compact(tmp_path / "whole")
        assert ix.merge() == 0 and ix.compact() > 1
        with Index(address, generation=2) as old:  # after the first add
            assert sorted(old.search("cat").ids) == ["a", "b"] and len(old) == 3
            assert sorted(pickle.loads(pickle.dumps(old)).search("cat").ids) == ["a", "b"]
            assert sorted(old.weights().ids) == ["a", "b", "c"]
            for change in (lambda: old.add({"e": "a cat"}), lambda: old.delete(["a"]), old.compact):
                with pytest.raises(ValueError, match="only the newest generation"):
                    change()
        with pytest.raises(FileNotFoundError, match="99"):
            Index(address, generation=99)
        assert sorted(pickle.loads(pickle.dumps(ix)).search("cat").ids) == ["b", "d"]


def test_the_query_language(docs):
    with Index.build(docs, positions=True) as ix:
        assert ix.search('"a feline"', syntax=True).ids.tolist() == ["0"]
        assert ix.search('"feline a"', syntax=True).ids.tolist() == []
        for queries in ('"feline a*"', ["cat", '"feline a*"']):
            with pytest.warns(CollocateWarning, match="in a phrase is taken for text"):
                ix.search(queries, syntax=True)
        assert ix.search(["+cat -purr", "swim*"], syntax=True)[1].ids.tolist() == ["3"]
        assert len(ix.search("+cat -purr")) == 1  # plain text
        with pytest.raises(ValueError, match="query 1"):
            ix.search(["cat", '"open'], syntax=True)


def test_ids_of_many_hits(tmp_path):
    many = Index.build((f"doc-{i}", "word") for i in range(300))
    hits = many.search("word", k=300)
    assert hits.ids.tolist() == [f"doc-{i}" for i in range(300)]
    assert many.ids([[1, 2], [2, 1]]).tolist() == [["doc-1", "doc-2"], ["doc-2", "doc-1"]]
    assert many.find(["doc-7", "none"]).tolist() == [7, -1]
    assert many.ids([]).tolist() == []


def test_pickled_as_its_path(tmp_path, docs):
    ix = Index.build(docs, tmp_path / "index")
    again = pickle.loads(pickle.dumps(ix))
    assert again.search("cat").ids.tolist() == ["0"]


def test_frames(index):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"docno": ["x", "y"], "title": ["one", None], "text": ["cat", "dog"]})
    with Index.build(frame, store_text=True) as ix:
        assert ix.search("cat").ids.tolist() == ["x"]
        assert ix.texts([0, 1]) == ["one\ncat", "dog"]
    with Index.build(frame["text"]) as ix:
        assert ix.search("dog").ids.tolist() == ["1"]
    table = index.search(["cat", "fish", "none"]).to_pandas(query_ids=["a", "b", "c"])
    assert table[["query", "rank", "id"]].values.tolist() == [["a", 0, "0"], ["b", 0, "3"]]
    assert list(index.search("cat").to_pandas().columns) == ["rank", "id", "score", "doc"]


def test_shown_in_notebooks(index):
    hits = index.search("<b>cat</b> & dog")
    assert "<script" not in hits._repr_html_() and "&amp; dog" in hits._repr_html_()
    assert "<b>cat</b> is a feline" in hits._repr_html_()
    assert "2 queries" in index.search(["cat", "dog"])._repr_html_()
    assert "<table>" in hits.explain()[0]._repr_html_()
    assert "4 documents" in repr(index)


def test_progress_is_told(tmp_path):
    told = []
    corpus = tmp_path / "big.txt"
    corpus.write_text("some words of a line\n" * 200_000)
    Index.build(corpus, progress=lambda *p: told.append(p)).close()
    assert all(stage in ("reading", "writing") and done >= 0 for stage, done, _ in told)
    calls = []
    with Index.build(["x"]) as ix:
        ix.search(["x"] * 10, progress=lambda *p: calls.append(p))
    assert calls == [("searching", 10, 10)]


def test_names():
    assert set(collocate.__all__) <= set(dir(collocate))
    for name in collocate.__all__:
        assert getattr(collocate, name) is not None
    with pytest.raises(AttributeError):
        collocate.nothing  # noqa: B018


BOOKS = [
    {"id": "a", "title": "Tea in China", "year": 1999, "lang": "en", "text": "leaves and water"},
    {"id": "b", "title": "Tea at sea", "year": 2021, "lang": "en", "text": "salt water"},
    {"id": "c", "title": "Thee", "year": 2022, "lang": "nl", "text": "blad en water"},
]
SCHEMA = ["title:text", "text:text", "year:number", "lang:keyword"]


def test_fields():
    with Index.build(BOOKS, schema=SCHEMA) as index:
        assert index.fields == ["title", "text", "year", "lang"]
        assert list(index.search("water", filter="year:>=2020").ids) == ["b", "c"]
        assert list(index.search("water", filter="year:>=2020 AND lang:en").ids) == ["b"]
        assert sorted(index.search("title:tea", syntax=True).ids) == ["a", "b"]
        many = index.search(["water", "leaves"], filter="lang:en")
        assert [sorted(h.ids) for h in many] == [["a", "b"], ["a"]]
        # A filter does not score.
        plain = index.search("salt").scores[0]
        assert index.search("salt", filter="lang:en").scores[0] == plain
        hits = index.search("blad")
        assert hits.fields(["year", "lang"]) == [{"year": 2022, "lang": "nl"}]
        assert index.stored("a")[0]["title"] == "Tea in China"
        mate = {"id": "d", "title": "Mate", "year": 2024, "lang": "es", "text": "water"}
        assert index.add([mate]) == (1, 0)
        assert list(index.search("water", filter="year:2024").ids) == ["d"]
        with pytest.raises(ValueError, match="filter="):
            index.search("water", filter="(year:2024")
        with pytest.raises(ValueError, match="yaer"):
            index.search("water", filter="yaer:2024")
        with pytest.raises(ValueError, match="nothing"):
            index.stored("a", ["nothing"])
    with pytest.raises(ValueError, match="exclude each other"):
        Index.build(BOOKS, schema=SCHEMA, fields=["title"])
    with pytest.raises(TypeError, match="mappings"):
        Index.build(["a text"], schema=SCHEMA)
    with Index.build(["a text"]) as index, pytest.raises(ValueError, match="schema="):
        index.stored([0])


def test_all_parts_of_a_filter_must_match():
    with Index.build(BOOKS, schema=SCHEMA) as index:
        for mode in ("or", "and"):
            for filter, wanted in {
                "year:>=2020 lang:en": ["b"],
                "year:>=2020 OR lang:en": ["a", "b", "c"],
                "year:>=2020 -lang:en": ["c"],
                "-lang:en": ["c"],
                "lang:(en OR nl) year:1999": ["a"],
                "tea": ["a", "b"],
            }.items():
                found = index.search("water", filter=filter, mode=mode)
                assert sorted(found.ids) == wanted, (filter, mode)
                assert sorted(index.search(["water"], filter=filter, mode=mode)[0].ids) == wanted
        # The mode is that of the query.
        assert sorted(index.search("salt leaves", filter="lang:en year:>0").ids) == ["a", "b"]
        assert len(index.search("salt leaves", filter="lang:en", mode="and")) == 0
        with pytest.raises(ValueError, match="has no words"):
            index.search("water", filter="  ")


def test_a_filter_leaves_scores_as_they_are():
    corpus = [{"id": "a", "text": "an e-mail of mine", "year": 1},
              {"id": "b", "text": "mail, the e of it", "year": 1},
              {"id": "c", "text": "mine", "year": 2}]  # fmt: skip
    with Index.build(corpus, schema=["text:text", "year:number"], store_text=True) as index:
        for query in ("e-mail", "e-mail mine", "don't mine", "mine:mail mine"):
            plain = {h.id: h.score for h in index.search(query) if h.id != "c"}
            hits = index.search(query, filter="year:1")
            assert {h.id: h.score for h in hits} == plain
            assert [e.score for e in hits.explain()] == pytest.approx(hits.scores.tolist())
            assert len(hits.snippets()) == len(hits)
    with Index.build([]) as empty, pytest.warns(CollocateWarning, match="no document has"):
        assert len(empty.search("", filter="y")) == 0


def test_fields_of_tables():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(BOOKS)
    table.loc[0, "year"] = None
    with Index.build(table, schema=SCHEMA) as index:
        assert list(index.search("water", filter="year:[2000 TO 2030]").ids) == ["b", "c"]
        assert "year" not in index.stored("a")[0]


def test_numbers_of_documents_are_not_guessed(index):
    for docs in (-1, [2**33], np.array([-1])):
        for call in (index.ids, index.texts, lambda d: index.explain("cat", d)):
            with pytest.raises(ValueError, match="does not exist"):
                call(docs)
    for docs in (None, [1.5], b"a", [True]):
        for call in (index.ids, index.texts, lambda d: index.snippets("cat", d)):
            with pytest.raises(TypeError, match="want their numbers or IDs"):
                call(docs)
    hits = index.search("cat fish")
    assert index.ids(hits).tolist() == hits.ids.tolist()
    for wrong in (99, -99):
        with pytest.raises(IndexError):
            hits[wrong]


def test_wrong_options_are_named(index, docs):
    for options, says in (
        ({"k1": float("nan")}, "k1=nan: want a finite number"),
        ({"k1": "x"}, "k1: want a number, not a string"),
        ({"filter": ["a"]}, "filter: want a string, not a list"),
        ({"threads": -1}, "threads=-1"),
        ({"model": "bm25f"}, "build it again with schema"),
    ):
        with pytest.raises(ValueError, match=says):
            index.search("cat", **options)
    assert len(index.search("cat")) == 1  # the worker is the same
    with pytest.raises(TypeError, match="k=1.5: want a whole number"):
        index.search("cat", k=1.5)
    with pytest.raises(ValueError, match='unknown name "foo"'):
        index.explain("cat", [0], foo=1)
    with pytest.raises(ValueError, match="memory=2: want bytes"):
        Index.build(docs, memory=2)
    with Index.build(BOOKS, schema=dict(s.split(":") for s in SCHEMA)) as typed:
        assert len(typed.search("tea", filter="year:>2000")) == 1


def test_queries_of_tables(index):
    pd = pytest.importorskip("pandas")
    queries = pd.Series(["cat", "fish"], index=["q1", "q2"])
    assert list(index.search(queries).to_run()) == ["q1", "q2"]
    with pytest.raises(TypeError, match="queries are a table"):
        index.search(queries.to_frame())
    with pytest.raises(ValueError, match="two queries have the ID 'x'"):
        index.search(["cat", "fish"]).to_run(["x", "x"])


def test_what_a_query_lacks_is_noted(index):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        hits = index.search("titel:cat", syntax=True)
    assert [w.category for w in warned] == [CollocateWarning] * 2
    assert hits.notes[0].startswith("titel: is taken for a word")
    assert hits.notes == [str(w.message) for w in warned] and hits.notes[0] in repr(hits)
    assert warned[0].filename == __file__
    with pytest.warns(CollocateWarning, match="no word begins with"):
        index.search("zzz*", syntax=True)
    # Plain words are no warning: a program may ask for any.
    hits = index.search("purrr")
    assert hits.notes == ['no document has the word "purrr" (did you mean purr?)']
    assert "did you mean purr?" in hits._repr_html_()
    assert index.search("cat").notes == []
    with pytest.warns(CollocateWarning, match="titel: is taken"):
        batch = index.search(["titel:cat", "cat", "titel:dog"], syntax=True)
    assert len(batch.notes) == 1
    with Index.build(BOOKS, schema=SCHEMA) as books:
        for filter, says in (
            ("lang:fr", 'no document has the value "?fr"? in the field lang'),
            ("lang:nl year:1999", "no document matches the filter lang:nl year:1999"),
        ):
            with pytest.warns(CollocateWarning, match=says):
                assert books.search(["water", "tea"], filter=filter).notes


def test_patterns_that_begin_with_a_wildcard():
    with Index.build(["the sun", "a cat"]) as index:
        assert index.search("?un", syntax=True).ids.tolist() == ["0"]
        assert sorted(index.search("*a*", syntax=True).ids) == ["1"]


def test_delete_by_query_merge_and_compact(tmp_path):
    texts = {str(i): f"word{i % 3} common" for i in range(9)}
    with Index.build(texts, tmp_path / "index") as index:
        index.add({"9": "word0 more"})
        assert index.delete(query="word0 AND common") == 3 and len(index) == 7
        assert index.delete() == 0 and index.merge() >= 0
        with pytest.raises(ValueError, match="excludes IDs"):
            index.delete("1", query="word1")
        with pytest.raises(ValueError, match="query="):
            index.delete(query=" ")
        index.compact(tmp_path / "whole")
        assert index.stats["segments"] > 1 or index.stats["deleted"] > 0
        with Index.open(tmp_path / "whole") as whole:
            assert len(whole) == 7 and "generation" not in whole.stats
        assert index.compact() >= 1
        assert index.stats["documents"] == 7 and not index.stats.get("deleted")


def test_stop_words_and_bad_files(tmp_path):
    (tmp_path / "stop.txt").write_text("common\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.txt").write_text("common words")
    (tmp_path / "docs" / "bad.txt").write_bytes(b"common \xff\xfe\x00")
    with pytest.warns(CollocateWarning, match="skipped .*bad.txt"):
        index = Index.build(tmp_path / "docs", format="file", skip_bad=True,
                            stopwords=str(tmp_path / "stop.txt"))  # fmt: skip
    assert len(index) == 1 and not len(index.search("common")) and len(index.search("words"))
    index.close()


def test_no_hits_and_all_hits(tmp_path, monkeypatch):
    texts = [f"moon {'dust ' * (i % 5)}" for i in range(100)] + ["sun"]
    docs = [{"id": f"d{i}", "text": t} for i, t in enumerate(texts)]
    with Index.build(docs, tmp_path / "ix") as ix:
        none = ix.search("moon", 0)
        assert len(none) == 0 and none.total == 100
        monkeypatch.setattr("collocate.index._PAGE", 7)
        for options in ({}, {"model": "dph"}, {"syntax": True, "filter": "dust"}):
            whole = ix.search("moon dust", 1000, **options)
            assert [*ix.search_all("moon dust", **options)] == [*whole]
        assert [*ix.search_all("nothing")] == []
        with pytest.raises(TypeError, match="count"):
            next(ix.search_all("moon", count=True))
        with pytest.raises(ValueError, match="k of 0"):
            ix.search(["moon", "sun"], 0)
        going_on = ix.search_all("moon")
        next(going_on)
        ix.add([{"id": "new", "text": "moon"}])
        with pytest.raises(ValueError, match="changed"):
            [*going_on]


def test_chains_and_synonyms(tmp_path):
    (tmp_path / "syn.txt").write_text("# vehicles\ncar, auto, motor car\n")
    docs = {"a": "asyncio.create_task", "b": "def createTask", "c": "an auto", "d": "a motor car"}
    with Index.build(docs, analyzer="code | parts | lower", positions=True) as ix:
        assert sorted(ix.search('"create task"', syntax=True).ids) == ["a", "b"]
        assert list(ix.search("asyncio.create_task", 1).ids) == ["a"]
        assert not len(ix.search("car", synonyms="none", filter="auto"))
        for rules in ("car, auto", ["car, auto", "x => y"], tmp_path / "syn.txt"):
            assert sorted(ix.search("car", synonyms=rules).ids) == ["c", "d"]
        steps = ix.analyze("createTask")
        assert steps[-1] == {"step": "lower", "word": "task", "position": 1, "start": 6, "end": 10}
        assert {s["step"] for s in steps} == {"code", "parts", "lower"}
        assert ix.analyze("Cats", analyzer="words | lower | stem(en)")[-1]["word"] == "cat"
        with pytest.raises(ValueError, match="unknown step"):
            ix.analyze("x", analyzer="words | upper")
    with Index.build(docs, tmp_path / "ix", analyzer="unicode", positions=True,
                     synonyms=tmp_path / "syn.txt") as ix:  # fmt: skip
        (tmp_path / "syn.txt").unlink()
        assert sorted(ix.search("car").ids) == ["c", "d"]
        assert ix.stats["analyzer"] == "unicode | synonyms(car, auto, motor car)"
    with pytest.raises(ValueError, match="unknown step"):
        Index.build(docs, analyzer="words | upper")


def test_weighted_tokens(tmp_path):
    documents = [{"solar": 3, "eclipse": 2}, [("solar", 1), ("panel", np.uint8(5)), ("dark", 0)]]
    texts = collocate.weighted(documents)
    assert texts == ['{"solar":3,"eclipse":2}', '{"solar":1,"panel":5}']
    with Index.build(texts, tmp_path / "v.index", analyzer="impact") as index:
        hits = index.search(collocate.weighted([{"solar": 2, "panel": 1}]), k=2)[0]
        assert hits.docs.tolist() == [1, 0] and hits.scores.tolist() == [7, 6]
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[3, 2, 0], [1, 0, 5]]))
    assert collocate.weighted(matrix, ["solar", "eclipse", "panel"]) == texts
    assert collocate.weighted(sparse.coo_array(matrix)) == ['{"0":3,"1":2}', '{"0":1,"2":5}']
    for wrong in ({"solar": 1}, [[("a", 1), ("a", 2)]], [[(1, 2)]], [{"a": float("nan")}]):
        with pytest.raises((TypeError, ValueError)):
            collocate.weighted(wrong)
    with pytest.raises(ValueError):
        collocate.weighted(matrix, ["solar"])


def test_weights_in_fields_of_documents():
    docs = [{"id": "d1", "vector": {"solar": 1.5}}, {"id": "d2", "vector": {"moon": 2}}]
    with Index.build(docs, analyzer="impact:100") as ix:
        assert ix.search("moon").ids.tolist() == ["d2"]
        assert ix.add([{"id": "d3", "vector": {"moon": 5}}]) == (1, 0)
        assert ix.search("moon").scores.tolist() == [500, 200]
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(docs).rename(columns={"vector": "v"})
    with Index.build(rows, analyzer="impact:100", fields="v") as ix:
        assert ix.search("solar").ids.tolist() == ["d1"]
    with pytest.raises(CollocateError, match='document 1: .*"moon": weight -2'):
        Index.build([{"id": "1", "vector": {"moon": -2}}], analyzer="impact")
    for dense in np.eye(2), rows:
        with pytest.raises(TypeError, match="want a SciPy matrix"):
            collocate.weighted(dense)


def test_weights_as_matrices(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    docs = [
        {"id": "d1", "t": "cat", "v": {"solar": 3, "éclipse": 2}},
        {"id": "d2", "t": "dog dog"},
        {"id": "d3", "t": "cat", "v": {"solar": 1}},
    ]
    with Index.build(docs, tmp_path / "ix", schema=["t:text", "v:sparse"]) as ix:
        w = ix.weights("v")
        assert w.ids == ["d1", "d2", "d3"] and w.tokens == ["solar", "éclipse"]
        assert w.matrix.toarray().tolist() == [[3, 2], [0, 0], [1, 0]]
        assert ix.weights().matrix.toarray().tolist() == [[1, 0], [0, 2], [1, 0]]
        ix.delete("d3")
        ix.add([{"id": "d0", "t": "cow", "v": {"moon": 70000 - 5000}}])
        ix.export(tmp_path / "v.npz", "v")
        got = collocate.load_npz(tmp_path / "v.npz")
        assert got.ids == ["d1", "d2", "d0"] and sorted(got.tokens) == ["moon", "solar", "éclipse"]
        assert (sparse.load_npz(tmp_path / "v.npz") != got.matrix).nnz == 0
        with pytest.raises(ValueError, match="want a name that ends with .npz"):
            ix.export(tmp_path / "v.npy")
        with pytest.raises(ValueError, match='no words of a field "w"'):
            ix.export(tmp_path / "w.npz", "w")
        with pytest.raises(ValueError, match="only a file for SciPy"):
            ix.export(tmp_path / "w.ciff.gz", "v")
        with pytest.raises(FileNotFoundError):
            ix.export(tmp_path / "no" / "w.npz")
    texts = collocate.weighted(got)
    assert texts[1] == "{}"
    with Index.build(zip(got.ids, texts), analyzer="impact") as ix:
        back = ix.weights()
        assert back.ids == got.ids and (back.matrix != got.matrix).nnz == 0
        ix.export(tmp_path / "v.ciff.gz")
        assert (tmp_path / "v.ciff.gz").read_bytes()[:2] == b"\x1f\x8b"
    with pytest.raises(TypeError, match="their own"):
        collocate.weighted(got, got.tokens)
    sparse.save_npz(tmp_path / "other.npz", got.matrix)
    with pytest.raises(ValueError, match="it has no array 'terms'"):
        collocate.load_npz(tmp_path / "other.npz")
    whole = (tmp_path / "v.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cut.npz: "):
        collocate.load_npz(tmp_path / "cut.npz")


def test_vectors_beside_words():
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(50, 8)).astype(np.float32)
    docs = [
        {"id": str(i), "body": "cat" if i % 3 else "dog", "v": v} for i, v in enumerate(vectors)
    ]
    with Index.build(docs, schema=["body:text", "v:vector:8"]) as ix:
        query = rng.normal(size=8).astype(np.float32)
        cosine = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        best = np.argsort(-cosine, kind="stable")[:5]
        hits = ix.search("", 5, vector=query)
        assert hits.docs.tolist() == best.tolist()
        assert hits.scores.tolist() == pytest.approx(cosine[best].tolist(), abs=1e-6)
        words = {h.doc: h.score for h in ix.search("dog", 50)}
        both = np.array([words.get(i, 0) for i in range(50)]) + 2 * cosine
        assert (
            ix.search("dog", 5, vector=query, vector_weight=2).docs.tolist()
            == np.argsort(-both, kind="stable")[:5].tolist()
        )
        assert len(ix.search("dog", 5, vector=query.tolist(), fusion="rrf")) == 5
        with pytest.raises(ValueError, match="a vector of 7 dimensions: want 8"):
            ix.search("", vector=query[:7])


def test_hits_are_ranked_again_by_a_function(index, docs):
    hits = index.search("a cat dog", 4)
    again = hits.reranked(lambda query, texts: [-len(t) if query == "a cat dog" else 0 for t in texts])
    assert [docs[d] for d in again.docs] == sorted((docs[d] for d in hits.docs), key=len)
    assert again.ids.tolist() == [hits.ids[hits.docs.tolist().index(d)] for d in again.docs]
    assert again.scores.tolist() == [-float(len(docs[d])) for d in again.docs]
    same = hits.reranked(lambda query, texts: np.zeros(len(texts)))
    assert same.docs.tolist() == hits.docs.tolist()
    with pytest.raises(ValueError, match="1 scores for 4 hits"):
        hits.reranked(lambda query, texts: [1.0])
    with pytest.raises(ValueError, match="not a finite number"):
        hits.reranked(lambda query, texts: [float("nan")] * 4)
    assert len(index.search("unheardof").reranked(lambda query, texts: [])) == 0


def test_several_vectors_of_a_document():
    rng = np.random.default_rng(50)
    docs = [
        {"id": str(i), "body": "cat" if i % 3 else "dog", "v": rng.normal(size=(1 + i % 4, 8))}
        for i in range(60)
    ]
    docs[1]["v"] = docs[1]["v"][0].tolist()  # one vector alone
    schema = ["body:text", "v:vector:8:dot:many"]
    query = rng.normal(size=8).astype(np.float32)
    with Index.build(docs[:40], schema=schema) as ix:
        ix.add(docs[40:])
        ix.delete(["7"])
        left = [d for d in docs if d["id"] != "7"]
        most = {d["id"]: np.max(np.atleast_2d(d["v"]) @ query) for d in left}
        best = sorted(most, key=lambda i: -most[i])[:5]
        hits = ix.search("", 5, vector=query)
        assert hits.ids.tolist() == best
        assert hits.scores.tolist() == pytest.approx([most[i] for i in best], rel=1e-5)
        dogs = [i for i in sorted(most, key=lambda i: -most[i]) if int(i) % 3 == 0]
        assert ix.search("", 5, vector=query, filter="body:dog").ids.tolist() == dogs[:5]
        with pytest.raises(CollocateError, match="vector 2 of 2: a vector of 7 dimensions: want 8"):
            ix.add([{"id": "x", "body": "x", "v": [[1.0] * 8, [1.0] * 7]}])


def test_vectors_of_an_array_or_a_file(tmp_path):
    rows = np.array([[1, 0], [0, 1], [1, 1]])
    docs = [{"id": i, "body": "cat"} for i in "abc"]
    schema = "body:text,v:vector:2"
    (tmp_path / "ids").write_text("c\nb\na\n")
    np.save(tmp_path / "rows.npy", rows.astype(np.float32))
    best = {"order": "a", "ids": "c"}
    kinds = (rows.astype(np.float16), np.asfortranarray(rows * 1.0), tmp_path / "rows.npy")
    for name, more in {"order": {}, "ids": {"vector_ids": tmp_path / "ids"}}.items():
        for given in kinds:
            with Index.build(docs, schema=schema, vectors=given, **more) as ix:
                assert ix.search("", 1, vector=[1, 0])[0].id == best[name]
    with Index.build(docs, schema=schema, vectors=rows * 1.0) as ix:
        assert ix.add([{"id": "d", "body": "dog"}], vectors=[[-1.0, 0.0]]) == (1, 0)
        assert ix.search("", 1, vector=[-1, 0])[0].id == "d"
        with pytest.raises(CollocateError, match="^vectors: it has 3 rows, and the corpus 1"):
            ix.add([{"id": "e", "body": "dog"}], vectors=rows * 1.0)
        assert len(ix.search("dog")) == 1
    with pytest.raises(CollocateError, match="^vectors: its vectors have 1 dimensions"):
        Index.build(docs, schema=schema, vectors=rows[:, :1] * 1.0)


def test_weighted_tokens_beside_words():
    rng = np.random.default_rng(7)
    tokens = [
        {f"t{t}": int(w) for t, w in zip(rng.choice(30, 8, replace=False), rng.integers(1, 99, 8))}
        for _ in range(50)
    ]
    docs = [{"id": str(i), "body": "cat" if i % 3 else "dog", "v": v} for i, v in enumerate(tokens)]
    with Index.build(docs, schema=["body:text", "v:sparse"]) as ix:
        query = {"t1": 3, "t7": 2, "t11": 5}
        dot = np.array([sum(w * v.get(t, 0) for t, w in query.items()) for v in tokens])
        hits = ix.search("", 5, sparse=query)
        assert hits.docs.tolist() == np.argsort(-dot, kind="stable")[:5].tolist()
        assert hits.scores.tolist() == sorted(dot.tolist(), reverse=True)[:5]
        words = {h.doc: h.score for h in ix.search("dog", 50)}
        both = np.array([words.get(i, 0) for i in range(50)]) + 0.01 * dot
        text = collocate.weighted([query])[0]
        for sparse in query, text, list(query.items()):
            found = ix.search("dog", 5, sparse=sparse, sparse_weight=0.01)
            assert found.docs.tolist() == np.argsort(-both, kind="stable")[:5].tolist()
        with pytest.raises(ValueError, match="not a whole number"):
            ix.search("", sparse={"t1": 0.5})
        with pytest.raises(ValueError, match="it needs sparse"):
            ix.search("dog", sparse_weight=2)
