"""What people try first, and what they should be told."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import collocate
import collocate.bm25 as bm25s
from collocate import CollocateWarning, Index, evaluate


def texts(corpus, **options):
    with Index.build(corpus, store_text=True, **options) as ix:
        return dict(zip(ix.ids(range(len(ix))), ix.texts(range(len(ix)))))


def test_a_mapping_is_documents_by_their_ids():
    assert texts({"a": "one cat", "b": "two dogs"}) == {"a": "one cat", "b": "two dogs"}
    beir = {"a": {"title": "Cats", "text": "purr"}, "b": {"title": "", "text": "bark"}}
    assert texts(beir) == {"a": "Cats\npurr", "b": "bark"}
    with Index.build(beir, schema=["title:text", "text:text"]) as ix:
        assert "a" in ix and "c" not in ix


def test_lists_of_paragraphs_are_joined_as_the_command_does(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "1", "text": ["a cat", "purrs"]}\n')
    here = texts([{"id": "1", "text": ["a cat", "purrs"]}])
    assert here == {"1": "a cat\npurrs"}
    with Index.build(tmp_path / "d.jsonl") as ix:
        assert ix.search("cat purrs").ids.tolist() == ["1"]
    with pytest.raises(TypeError, match="bytes: decode"):
        Index.build([{"id": "1", "text": b"a cat"}])


def test_rows_are_named_by_an_index_that_is_called_id():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"id": ["x", "y"], "text": ["a cat", "a dog"]}).set_index("id")
    want = {"x": "a cat", "y": "a dog"}
    assert texts(table) == want and texts(table.text) == want
    with Index.build(table, schema=["text:text"]) as ix:
        assert ix.search("dog").ids.tolist() == ["y"]


def test_a_list_of_names_of_files_is_warned_of(tmp_path):
    file = tmp_path / "d.txt"
    file.write_text("a cat\n")
    with pytest.warns(CollocateWarning, match="pass a list of pathlib.Path"):
        Index.build([str(file)]).close()
    with pytest.raises(TypeError, match="paths go into a list"):
        Index.build(tmp_path.glob("*.txt"))


def test_warnings_name_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Index.build([{"id": 1, "text": "a", "year": 1}]).close()
        Index.build([{"id": 1, "text": "a", "year": 1}], schema=["text:text"]).close()
    assert [w.filename for w in told] == [__file__, __file__]
    assert str(told[1].message).startswith("the documents: left out: year")


def test_options_are_spelled_as_in_python():
    with pytest.raises(ValueError, match=r"id_field.*allow_duplicate_ids"):
        Index.build([("a", "x"), ("a", "y")])
    with Index.build(["a b"]) as ix, pytest.raises(Exception, match=r"positions"):
        ix.search('"a b"', syntax=True)


def test_queries_by_their_ids(index):
    queries = {"q1": "cat", "q2": "nothing of this", "q3": "dog bird"}
    found = index.search(queries, k=2)
    assert found.queries == list(queries.values())
    assert {q: list(d) for q, d in found.to_run().items()} == {
        "q1": ["0"], "q2": [], "q3": found[2].ids.tolist()
    }  # fmt: skip
    qrels = {"q1": {"0": 1}, "q2": {"1": 1}}
    assert evaluate(found, qrels, "RR")["RR"] == 0.5
    assert evaluate({}, qrels, ["RR", "NumRel"]) == {"RR": 0.0, "NumRel": 2.0}
    assert found.to_run("abc").keys() == {"a", "b", "c"}
    with pytest.raises(ValueError, match="2 IDs for 3 queries"):
        found.to_run(["a", "b"])
    with pytest.raises(ValueError, match="queries have no IDs"):
        evaluate(index.search(["cat"]), qrels, ["RR"])


def test_what_is_no_query_is_said(index):
    for bad, why in ((5, "type int"), (b"cat", "bytes"), (["cat", None], "query 1 is of type")):
        with pytest.raises(TypeError, match=why):
            index.search(bad)
    with pytest.raises(TypeError):
        index.search("cat", k=3.0)
    with pytest.raises(ValueError, match="the index has no fields"):
        index.search("cat", filter="year:>2000")
    assert index.search("cat", filter="feline").ids.tolist() == ["0"]


def test_numbers_of_numpy(index):
    hits = index.search("cat fish", k=np.int64(1), k1=np.float32(0.5))
    assert len(hits) == 1
    assert len(index.search(["cat"], k=np.int64(1)).docs) == 1


def test_parts_of_hits_and_documents_by_id(index, docs):
    hits = index.search("cat fish dog")
    assert hits[:2].ids.tolist() == hits.ids[:2].tolist()
    assert [h.id for h in hits[1:]] == hits.ids[1:].tolist()
    assert hits[:1].snippets()[0].text in docs[hits.docs[0]]
    assert index.texts(hits.ids) == [docs[int(i)] for i in hits.ids]
    assert index.texts(hits) == index.texts(hits.docs)
    assert index.find("2").tolist() == [2]


def test_a_closed_index_can_be_shown():
    ix = Index.build(["a"])
    ix.close()
    assert "closed" in repr(ix)


def test_all_scores(docs):
    r = bm25s.BM25(method="lucene", delta=0.5)
    r.index(bm25s.tokenize(docs))
    scores = r.get_scores(["cat", "fish"])
    found, best = r.retrieve(bm25s.tokenize("cat fish"), k=2)
    assert np.flatnonzero(scores).tolist() == sorted(found[0].tolist())
    assert np.sort(scores)[::-1][:2].tolist() == best[0].tolist()
    with pytest.raises(ValueError, match="delta=2"):
        bm25s.BM25(method="bm25+", delta=2)


def test_bounds_on_words_as_scikit_learn_has_them():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer

    from collocate.sklearn import BM25Vectorizer

    docs = ["cat dog", "cat bird", "cat dog fish", "cat"]
    for bounds in ({"min_df": 0.5}, {"max_df": 0.5}, {"min_df": 2, "max_df": 3}, {"max_df": 3}):
        theirs = CountVectorizer(**bounds).fit(docs)
        ours = BM25Vectorizer(**bounds).fit(docs)
        assert ours.vocabulary_ == theirs.vocabulary_
    with pytest.raises(ValueError, match="document 1 is of type NoneType"):
        BM25Vectorizer().fit(["cat", None])
    with pytest.raises(ValueError, match="min_df=1.5"):
        BM25Vectorizer(min_df=1.5).fit(docs)


def test_what_is_missing_is_named(monkeypatch, index):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "collocate\[pandas\]"'):
        index.search("cat").to_pandas()


def test_more_files_than_select_knows():
    """A process with 1,100 open files builds, too."""
    program = (
        "import resource, collocate\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000))\n"
        "keep = [open('/dev/null') for _ in range(1100)]\n"
        "print(len(collocate.Index.build(f'cat {i}' for i in range(2000))))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(collocate.__file__))}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env
    )
    assert done.stdout == "2000\n", done.stderr
