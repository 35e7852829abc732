from __future__ import annotations

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyterrier")


def test_index_and_retrieve():
    from collocate.terrier import Indexer, Retriever

    documents = [{"docno": "a", "text": "cats purr"}, {"docno": "b", "text": "dogs and cats"}]
    ix = Indexer().index(iter(documents))
    retriever = Retriever(ix, num_results=5)
    topics = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["cat", "dog", "bird"]})
    found = retriever.transform(topics)
    assert list(found.columns) == ["qid", "query", "docid", "docno", "rank", "score"]
    assert found[["qid", "docno", "rank"]].values.tolist() == [
        ["1", "a", 0],
        ["1", "b", 1],
        ["2", "b", 0],
    ]
    best = (retriever % 1)(topics)  # in a pipeline
    assert best["docno"].tolist() == ["a", "b"]


def test_toks():
    from collocate.terrier import Indexer, Retriever

    ix = Indexer().index(
        [{"docno": "a", "toks": {"Cat": 2, "x-y": 1}}, {"docno": "b", "toks": {"Cat": 1}}]
    )
    topics = pd.DataFrame({"qid": ["1"], "query": ["?"], "query_toks": [{"x-y": 1.0, "Cat": 1.0}]})
    found = Retriever(ix).transform(topics)
    assert found["docno"].tolist() == ["a", "b"]
