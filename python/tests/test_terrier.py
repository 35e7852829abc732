"""PyTerrier, the real one if it is installed, and always a stand-in for its transformers."""

from __future__ import annotations

import sys
import types
from importlib import import_module

import numpy as np
import pytest

from collocate import CollocateError, CollocateWarning

pd = pytest.importorskip("pandas", reason="pandas is not installed")


class Transformer:
    """What PyTerrier's pipelines ask of a transformer."""

    def get_parameter(self, name):
        if not hasattr(self, name):
            raise ValueError(f"Invalid parameter name {name}")
        return getattr(self, name)

    def set_parameter(self, name, value):
        self.get_parameter(name)
        setattr(self, name, value)

    def __call__(self, inp):
        return self.transform(inp)

    def __rshift__(self, right):
        return Composed(self, right)


class Composed(Transformer):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def transform(self, inp):
        return self.right(self.left(inp))


@pytest.fixture(params=["stand-in", "python-terrier"])
def terrier(request, monkeypatch):
    """collocate.terrier on top of one of the two."""
    monkeypatch.delitem(sys.modules, "collocate.terrier", raising=False)
    if request.param == "python-terrier":
        pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    else:
        stand_in = types.ModuleType("pyterrier")
        stand_in.Transformer, stand_in.Indexer = Transformer, Transformer
        monkeypatch.setitem(sys.modules, "pyterrier", stand_in)
    yield import_module("collocate.terrier")
    sys.modules.pop("collocate.terrier", None)


DOCUMENTS = [
    {"docno": "a", "text": "cats purr"},
    {"docno": "b", "text": "dogs and cats"},
    {"docno": "c", "text": "cats chase cats, and dogs chase both of them in the end"},
]
TOPICS = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["cat", "dog", "bird"]})


def rows(frame, *columns):
    return frame[list(columns)].values.tolist()


def test_index_and_retrieve(terrier):
    ix = terrier.Indexer().index(iter(DOCUMENTS[:2]))
    retriever = terrier.Retriever(ix, num_results=5)
    found = retriever.transform(TOPICS)
    assert list(found.columns) == ["qid", "query", "docid", "docno", "rank", "score"]
    assert rows(found, "qid", "docno", "rank") == [["1", "a", 0], ["1", "b", 1], ["2", "b", 0]]
    assert terrier.Retriever(ix, 1)(TOPICS)["docno"].tolist() == ["a", "b"]


def test_a_retriever_behind_another_scores_what_it_is_given(terrier):
    ix = terrier.Indexer().index(DOCUMENTS)
    first, second = terrier.Retriever(ix, k1=0.1, b=0), terrier.Retriever(ix, k1=3.0, b=1)
    given, alone = first(TOPICS), second(TOPICS)
    found = (first >> second)(TOPICS)
    assert len(found) == len(given)
    assert sorted(rows(found, "qid", "docno")) == sorted(rows(given, "qid", "docno"))
    assert rows(found, "qid", "docno", "rank") == rows(alone, "qid", "docno", "rank")
    assert found["score"].tolist() == pytest.approx(alone["score"].tolist())
    # Exactly the given pairs, also those that do not match, wherever they stand.
    pairs = pd.DataFrame({
        "qid": ["2", "1", "2", "1"], "query": ["dog", None, None, "cat"],
        "docno": ["a", "c", "b", "a"], "score": [9.0, 8.0, 7.0, 6.0], "kept": [1, 2, 3, 4],
    })  # fmt: skip
    found = second(pairs)
    assert [r[:3] for r in rows(found, "qid", "docno", "rank")] == [
        ["2", "b", 0], ["2", "a", 1], ["1", "a", 0], ["1", "c", 1],
    ]  # fmt: skip
    assert found["score"][1] == 0 and found["kept"].tolist() == [3, 1, 4, 2]
    by_number = second(pairs.assign(docid=[0, 2, 1, 0]).drop(columns="docno"))
    assert by_number["docno"].tolist() == found["docno"].tolist()
    assert len(second(pairs[:0])) == 0
    with pytest.raises(ValueError, match="no document of the index has the docno 'x'"):
        second(pairs.assign(docno="x"))


def test_reranking_obeys_filters_and_deletions(terrier):
    ix = terrier.Indexer().index(DOCUMENTS)
    ix.delete("b")
    ix.add([("d", "another cat")])
    pairs = pd.DataFrame({"qid": "1", "query": "cat", "docno": ["a", "c", "d"]})
    scores = dict(rows(terrier.Retriever(ix)(pairs), "docno", "score"))
    assert scores == dict(rows(terrier.Retriever(ix)(TOPICS[:1]), "docno", "score"))
    filtered = dict(rows(terrier.Retriever(ix, filter="-chase")(pairs), "docno", "score"))
    assert filtered == {**scores, "c": 0}


def test_parameters_can_be_tuned(terrier):
    ix = terrier.Indexer().index(DOCUMENTS)
    retriever = terrier.Retriever(ix, b=0.5)
    assert retriever.get_parameter("b") == 0.5 and retriever.get_parameter("k1") is None
    known = {retriever: 1}
    before = retriever(TOPICS)["score"].tolist()
    retriever.set_parameter("k1", 5.0)
    assert retriever in known and "k1=5.0" in repr(retriever)
    assert retriever(TOPICS)["score"].tolist() != before
    retriever.set_parameter("k1", None)
    assert retriever(TOPICS)["score"].tolist() == before
    retriever.set_parameter("num_results", 1)
    assert len(retriever(TOPICS[:1])) == 1
    with pytest.raises(ValueError):
        retriever.set_parameter("k_1", 5.0)
    with pytest.raises(TypeError, match="k_1=: want"):
        terrier.Retriever(ix, k_1=5.0)


def test_toks(terrier):
    ix = terrier.Indexer().index(
        [{"docno": "a", "toks": {"Cat": 2, "x-y": 1}}, {"docno": "b", "toks": {"Cat": 1}}]
    )
    topics = pd.DataFrame({"qid": ["1"], "query": ["?"], "query_toks": [{"x-y": 1.0, "Cat": 1.0}]})
    assert terrier.Retriever(ix)(topics)["docno"].tolist() == ["a", "b"]
    pairs = topics.assign(docno="b")
    assert terrier.Retriever(ix)(pairs)["docno"].tolist() == ["b"]
    topics["query_toks"] = [{"Cat": 1.0, "x-y": 0.3}]
    with pytest.warns(CollocateWarning, match="qid '1': 'x-y' is left out, since its weight 0.3"):
        terrier.Retriever(ix)(topics)


def test_weighted_toks(terrier):
    documents = [
        {"docno": "a", "toks": {"##s": 0.53, "solar panel": 1.2}},
        {"docno": "b", "toks": {"##s": np.float32(2.5)}},
    ]
    with pytest.raises(ValueError, match="document 0: the weight of '##s' is 0.53, no count"):
        terrier.Indexer().index(documents)
    ix = terrier.Indexer(analyzer="impact:100").index(documents)
    topics = pd.DataFrame({"qid": ["1"], "query_toks": [{"##s": 0.5, "solar panel": 2.0}]})
    found = terrier.Retriever(ix)(topics)
    assert found["docno"].tolist() == ["a", "b"]
    assert found["score"].tolist() == [50 * 53 + 200 * 120, 50 * 250]
    assert terrier.Retriever(ix)(topics.assign(docno="b"))["score"].tolist() == [50 * 250]
    for toks, says in (({"x": -1}, "not negative"), ({"x": float("nan")}, "qid '1': .*nan")):
        with pytest.raises((CollocateError, ValueError), match=says):
            terrier.Retriever(ix)(topics.assign(query_toks=[toks]))
    with pytest.raises((CollocateError, ValueError), match="document x: .*not negative"):
        terrier.Indexer(analyzer="impact").index([{"docno": "x", "toks": {"a": -1}}])


def test_mistakes(terrier):
    for documents, says in (
        ([{"docno": "a", "body": "x"}], "document 0: has none of fields"),
        ([{"text": "x"}], "docno"),
        ([{"docno": "a", "text": None}], "document 0: has no text"),
        ([{"docno": "a", "toks": {"x": 1}}, {"docno": "b"}], "document 1: has no toks"),
        ([{"docno": "a", "toks": {"x y": 1}}], "no blanks inside"),
    ):
        with pytest.raises(ValueError, match=says):
            terrier.Indexer().index(documents)
    ix = terrier.Indexer().index([])
    assert len(ix) == 0 and len(terrier.Retriever(ix)(TOPICS)) == 0
    with pytest.raises(ValueError, match="want qid and query"):
        terrier.Retriever(ix)(TOPICS[["query"]])
    with pytest.raises(TypeError, match="qid '2': the query is of type"):
        terrier.Retriever(ix)(pd.DataFrame({"qid": ["1", "2"], "query": ["x", None]}))


def test_pipelines_of_the_real_one(terrier):
    pt = sys.modules["pyterrier"]
    if not hasattr(pt, "GridScan"):
        pytest.skip("the stand-in has no experiments, and older versions have them elsewhere")
    ix = terrier.Indexer().index(DOCUMENTS)
    retriever = terrier.Retriever(ix)
    assert (retriever % 1)(TOPICS)["docno"].tolist() == ["a", "b"]
    qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["c", "c"], "label": [1, 1]})
    grid = {retriever: {"k1": [0.1, 1.2, 9.0], "b": [0.0, 1.0]}}
    scanned = pt.GridScan(retriever, grid, TOPICS, qrels, ["map"], verbose=False)
    assert len(scanned) == 6 and scanned["map"].nunique() > 1
    best = pt.GridSearch(retriever >> terrier.Retriever(ix), grid, TOPICS, qrels, "map",
                         verbose=False)  # fmt: skip
    assert len(best(TOPICS)) == 5
    table = pt.Experiment([retriever, retriever >> retriever], TOPICS, qrels, ["map", "recip_rank"])
    assert table["map"].nunique() == 1
    assert pt.inspect.transformer_inputs(retriever)[0] == ["qid", "query"]
    assert "docno" in pt.inspect.transformer_outputs(retriever, ["qid", "query"])
