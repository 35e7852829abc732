from __future__ import annotations

import numpy as np
import pytest

import collocate.bm25 as bm25s


def test_the_example_of_bm25s(docs, tmp_path):
    corpus = docs
    stemmer = "english"
    corpus_tokens = bm25s.tokenize(corpus, stopwords="en", stemmer=stemmer)
    retriever = bm25s.BM25()
    retriever.index(corpus_tokens)
    query = "does the fish purr like a cat?"
    query_tokens = bm25s.tokenize(query, stemmer=stemmer)
    results, scores = retriever.retrieve(query_tokens, k=2)
    assert results.shape == scores.shape == (1, 2)
    assert results[0].tolist() == [0, 3]
    assert scores[0, 0] > scores[0, 1] > 0
    retriever.save(tmp_path / "animals")
    retriever.save(tmp_path / "animals", corpus=corpus)
    again = bm25s.BM25.load(tmp_path / "animals", load_corpus=True)
    documents, same = again.retrieve(query_tokens, k=2)
    assert documents[0].tolist() == [corpus[0], corpus[3]]
    assert same.tolist() == scores.tolist()
    titles = ["About Cat", "About Dog", "About Bird", "About Fish"]
    named = again.retrieve(query_tokens, corpus=titles, k=3, return_as="documents")
    assert named[0].tolist() == ["About Cat", "About Fish", None]


def test_the_same_scores_as_bm25s(docs):
    """With the same words, the scores are those of bm25s up to Lucene's missing factor k1 + 1."""
    peer = pytest.importorskip("bm25s")
    words = [d.split() for d in docs]
    ours = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    ours.index(words)
    theirs = peer.BM25(k1=1.5, b=0.75, method="lucene")
    theirs.index(words, show_progress=False)
    queries = [["cat", "fish", "a"], ["dog"]]
    _, a = ours.retrieve(queries, k=4)
    b = theirs.retrieve(queries, k=4, show_progress=False).scores
    assert np.allclose(a, b, rtol=1e-5)


def test_mistakes():
    with pytest.raises(TypeError, match='stemmer="english"'):
        bm25s.tokenize("x", stemmer=object())
    with pytest.raises(ValueError, match="stemmer"):
        bm25s.tokenize("x", stopwords="en")
    with pytest.raises(ValueError, match="different languages"):
        bm25s.tokenize("x", stopwords="de", stemmer="english")
    with pytest.raises(TypeError, match="token_pattern"):
        bm25s.tokenize("x", token_pattern=".")
    with pytest.raises(ValueError, match="index first"):
        bm25s.BM25().retrieve(["x"])
    with pytest.raises(ValueError, match="method"):
        bm25s.BM25(method="bm26")


def test_what_is_no_text_is_named():
    def retrieve(texts, queries=("b",), **options):
        retriever = bm25s.BM25()
        retriever.index(texts)
        return retriever.retrieve(queries, k=1, **options)

    for texts, says in (
        (None, "texts are of type NoneType"),
        ([["a", "b"], "bc"], "text 1 is a str, but those before it are lists"),
        ([[1, 2]], "text 0: its words are not all str"),
    ):
        with pytest.raises(TypeError, match=says):
            retrieve(texts)
    with pytest.raises(ValueError, match="text 0: words have no blanks inside"):
        retrieve([["a b", "c"]])
    with pytest.raises(ValueError, match="the corpus has 1 entries, the index 2 documents"):
        retrieve(["a b", "b"], corpus=["only one"])
