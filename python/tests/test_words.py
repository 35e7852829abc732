from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

import collocate
from collocate import (
    CollocateWarning,
    Cooccurrence,
    Index,
    collocations,
    concordance,
    cooccurrence,
    dispersion,
    keywords,
    ngrams,
    vocabulary,
    wordlist,
)

TEXTS = ["the cat sat on the mat", "the dog saw the cat", "alone"]


def test_vocabulary(tmp_path):
    v = vocabulary(TEXTS)
    assert v.words[0] == "the" and v["the"] == 4 and v["cat"] == 2
    assert len(v) == 8 and v.tokens == 12 and "dog" in v and "bird" not in v
    assert vocabulary(iter(TEXTS), min_count=2).words == ["the", "cat"]
    assert len(vocabulary(TEXTS, max_size=3)) == 3
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    assert vocabulary(path).words == v.words
    assert "<td" in v._repr_html_() and "8 words" in repr(v)


def test_cooccurrence_by_hand(tmp_path):
    pytest.importorskip("scipy")
    for corpus in (TEXTS, iter(TEXTS)):  # the corpus is read twice
        m = cooccurrence(corpus, window=2, weighting="count")
        dense = m.matrix().toarray()
        ids = m.vocabulary.ids
        want = np.zeros_like(dense)
        for text in TEXTS:
            words = text.split()
            for i, a in enumerate(words):
                for j, b in enumerate(words):
                    if i != j and abs(i - j) <= 2:
                        want[ids[a], ids[b]] += 1
        assert (dense == want).all()
        assert m.entries == np.count_nonzero(want)
    path = m.path
    assert os.path.exists(path)
    del m
    assert not os.path.exists(path)


def test_measures():
    pytest.importorskip("scipy")
    pytest.importorskip("pandas")
    m = cooccurrence(TEXTS, window=3, weighting="count")
    counts, pmi = m.matrix().toarray(), m.matrix(by="pmi").toarray()
    total, row, column = counts.sum(), counts.sum(1), counts.sum(0)
    for i, j in zip(*np.nonzero(pmi)):
        assert pmi[i, j] == pytest.approx(np.log2(counts[i, j] * total / (row[i] * column[j])))
    table = m.neighbours("cat", top=3, by="g2")
    assert list(table.columns) == ["word", "value", "count", "score"] and len(table) == 3
    assert table["score"].is_monotonic_decreasing
    # Measures use the frequencies of words: "the" 4 times, "cat" twice, together 3 times.
    dice = m.neighbours("cat", top=9, by=["dice", "mi"], p=True).set_index("word")
    assert dice.loc["the", "value"] == 3 and dice.loc["the", "count"] == 4
    assert list(dice.columns) == ["value", "count", "score", "dice", "mi", "p", "q"]
    both = m.neighbours(["cat", "dog"], top=2)
    assert both["of"].tolist() == ["cat", "cat", "dog", "dog"]
    with pytest.raises(ValueError, match="bird"):
        m.neighbours("bird")
    with pytest.raises(ValueError, match="measure"):
        m.matrix(by="luck")


def test_files_and_mistakes(tmp_path):
    m = cooccurrence(TEXTS, tmp_path / "texts.cooc")
    again = Cooccurrence.open(tmp_path / "texts.cooc")
    assert again.words == m.words and repr(again).startswith("<Cooccurrence: 8 words")
    with pytest.raises(ValueError, match="window"):
        cooccurrence(TEXTS, window=-1)
    with pytest.raises(ValueError, match="min_count 9"):
        cooccurrence(TEXTS, min_count=9)
    with pytest.raises(ValueError, match="side"):
        cooccurrence(TEXTS, side="above")
    with pytest.raises(FileNotFoundError):
        Cooccurrence.open(tmp_path / "none.cooc")


def test_vectorizer():
    pytest.importorskip("sklearn")
    from collocate.sklearn import BM25Vectorizer

    v = BM25Vectorizer()
    x = v.fit_transform(TEXTS)
    assert x.shape == (3, 8) and x.dtype == np.float32
    assert np.allclose(v.transform(TEXTS).toarray(), x.toarray())
    # The dot product of a document's vector and a query's vector of ones is the score of a search.
    names = v.get_feature_names_out().tolist()
    with Index.build(TEXTS) as ix:
        for query in ["cat", "the mat", "dog saw"]:
            want = np.zeros(3, dtype=np.float32)
            hits = ix.search(query, k=3, variant="lucene7")
            want[hits.docs] = hits.scores
            ones = np.zeros(8)
            for w in query.split():
                ones[names.index(w)] = 1
            assert np.allclose(x @ ones, want, rtol=1e-5)
    new = v.transform(["a cat nobody knows"])
    assert new.shape == (1, 8) and new.nnz == 1
    assert BM25Vectorizer(min_df=2).fit(TEXTS).get_feature_names_out().tolist() == ["cat", "the"]
    assert BM25Vectorizer(max_features=1).fit(TEXTS).transform(TEXTS).shape == (3, 1)
    unit = BM25Vectorizer(norm="l2").fit_transform(TEXTS)
    assert np.allclose(np.sqrt(unit.multiply(unit).sum(1)), 1)
    assert (pickle.loads(pickle.dumps(v)).transform(TEXTS) != x).nnz == 0
    with pytest.raises(ValueError, match="want an iterable of str"):
        v.fit("text")
    with pytest.raises(ValueError, match="norm"):
        BM25Vectorizer(norm="l9").fit(TEXTS)


def test_in_a_pipeline():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    from collocate.sklearn import BM25Vectorizer

    texts = [f"{w} {i}" for i in range(10) for w in ("cats purr", "dogs bark")]
    labels = [i % 2 for i in range(20)]
    pipeline = make_pipeline(BM25Vectorizer(analyzer="english"), LogisticRegression())
    grid = GridSearchCV(clone(pipeline), {"bm25vectorizer__b": [0.0, 0.75]}, cv=2)
    grid.fit(texts, labels)
    assert grid.best_score_ == 1.0
    assert grid.predict(["a dog barks"]) == [1]


def test_vectors():
    pytest.importorskip("pandas")
    texts = [f"{a} {b} drinks {a} {b}" for a in ("red", "blue") for b in ("tea", "cup")] * 5
    m = cooccurrence(texts, window=2, weighting="count")
    with pytest.warns(collocate.CollocateWarning, match="x_max: it has no effect"):
        m.embed(3, method="svd", x_max=10)
    for method in ("svd", "glove"):
        how = {"x_max": 10} if method == "glove" else {"power": 8}
        v = m.embed(3, method=method, **how)
        assert v.vectors.shape == (len(m.words), 3) and v.words == m.words and "tea" in v
        assert (m.embed(3, method=method, **how).vectors == v.vectors).all()
        near = v.similar("tea", 2)
        assert v.similar(["tea", "cup"], 1)["of"].tolist() == ["tea", "cup"]
        # As the command has it: the word nearest to cup - tea + red that is none of them.
        like = v.analogy("tea", "cup", "red", top=1)
        want = v["cup"] / np.linalg.norm(v["cup"]) - v["tea"] / np.linalg.norm(v["tea"])
        want = want + v["red"] / np.linalg.norm(v["red"])
        others = [w for w in v.words if w not in ("tea", "cup", "red")]
        cosines = [v[w] @ want / np.linalg.norm(v[w]) for w in others]
        assert like["word"][0] == others[int(np.argmax(cosines))]
        assert v.map("tea", 2).columns.tolist() == ["word", "cosine", "x", "y"]
        assert len(near) == 2 and "tea" not in near["word"].tolist()
        assert near["cosine"].is_monotonic_decreasing
        with pytest.raises(KeyError, match="drink. is not in the vocabulary .did you mean drinks"):
            v.similar("drink")
        with pytest.raises(KeyError, match="zzzz. is not in the vocabulary'"):
            v["zzzz"]
    made = m.embed(3, method="svd", texts=True)
    assert made.analyzer and not m.embed(3, method="svd").analyzer
    rows = made.of_texts(["red tea", "zebra", "tea red tea"])
    assert np.allclose(rows[0], made["red"] + made["tea"], atol=1e-6) and not rows[1].any()
    assert np.allclose(rows[2], made["red"] + 2 * made["tea"], atol=1e-6)
    assert made.of_texts([]).shape == (0, 3)
    with pytest.raises(ValueError, match="of words alone"):
        m.embed(3, method="svd").of_texts(["tea"])
    with pytest.raises(TypeError, match="want a str"):
        made.of_texts([3])
    with pytest.raises(ValueError, match="want glove, svd"):
        m.embed(3, method="luck")
    gensim = pytest.importorskip("gensim")
    assert gensim and v.to_gensim().most_similar("tea", topn=1)[0][0] == near["word"][0]


def test_collocations(tmp_path):
    pytest.importorskip("pandas")
    texts = [f"a strong tea number{i} and a weak coffee word{i}" for i in range(12)]
    table = collocations(texts, top=5, window=1, by=["logdice", "mi"])
    assert {"strong", "tea"} in [set(x) for x in table[["word1", "word2"]].values.tolist()]
    assert list(table.columns) == ["word1", "word2", "count", "f1", "f2", "score", "logdice", "mi",
                                   "docs", "dp_norm"]  # fmt: skip
    assert (table["docs"] == 12).all()
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts))
    of = collocations(path, of="tea", window=1, format="lines")
    assert of["word2"].tolist() == ["strong"]
    with pytest.raises(ValueError, match="milk"):
        collocations(texts, of="milk")
    with pytest.raises(ValueError, match="luck"):
        collocations(texts, by="luck")


def test_concordance(tmp_path):
    found = concordance(TEXTS, "c*", sort=["R1"])
    assert [x["match"] for x in found] == ["cat", "cat"] and found.total == 2
    assert found[0]["left"] == "the dog saw the" and found[0]["document"] == "1"
    assert "the dog saw the cat" in repr(found) and "<b>cat</b>" in found._repr_html_()
    with Index.build(TEXTS, store_text=True) as index:
        assert [x["left"] for x in index.concordance("cat")] == ["the", "the dog saw the"]
        with pytest.warns(CollocateWarning, match="bird"):
            assert len(index.concordance("bird")) == 0
    with Index.build(TEXTS) as index, pytest.raises(ValueError, match="text"):
        index.concordance("cat")
    with pytest.raises(ValueError, match="window 0"):
        concordance(TEXTS, "cat", window=0)
    assert concordance(TEXTS, "*at", with_="on", window=2).total == 3
    assert concordance(TEXTS, "/[cm]at/", without="on", window=2).total == 1
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    with pytest.warns(CollocateWarning, match="did you mean cat"):
        assert concordance(path, "catt", format="lines").total == 0


def test_wordlist(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    for corpus, more in ((TEXTS, {}), (iter(TEXTS), {}), (path, {"format": "lines"})):
        table = wordlist(corpus, **more).set_index("word")
        assert table.loc["the", "count"] == 4 and table.loc["the", "range"] == 2
        sizes = np.array([6, 5, 1]) / 12
        dp = abs(np.array([0.5, 0.5, 0]) - sizes).sum() / 2
        assert table.loc["the", "dp"] == pytest.approx(dp)
        assert table.loc["cat", "per_million"] == pytest.approx(2e6 / 12)
    assert wordlist(TEXTS, min_count=2)["word"].tolist() == ["the", "cat"]
    assert wordlist(TEXTS, parts=2)["range"].max() == 2
    with pytest.raises(ValueError, match="parts 1"):
        wordlist(TEXTS, parts=1)
    with pytest.raises(ValueError, match="group"):
        wordlist(TEXTS, group="(")


def test_ngrams():
    pytest.importorskip("pandas")
    table = ngrams(TEXTS, 2, min_count=2)
    assert table.values.tolist() == [["the cat", 2, 2, 2]]
    assert set(ngrams(TEXTS, (1, 2), min_count=1, of="m*")["ngram"]) == {"mat", "the mat"}
    assert len(ngrams(TEXTS, min_count=1, top=3)) == 3
    with pytest.warns(CollocateWarning, match="k= is now top="):
        assert len(ngrams(TEXTS, min_count=1, k=3)) == 3
    with pytest.raises(TypeError, match="give only one"):
        ngrams(TEXTS, k=3, top=3)
    with pytest.raises(ValueError, match="n 3-2"):
        ngrams(TEXTS, (3, 2))
    with pytest.raises(ValueError, match="regexp"):
        ngrams(TEXTS, of="/(/")


def test_an_index_is_a_corpus():
    """Of an index with stored text, tables are those of the texts, and nothing given is ignored."""
    pytest.importorskip("pandas")
    with collocate.Index.build(TEXTS, store_text=True, analyzer="unicode") as index:
        for ask, more in (
            (wordlist, {}),
            (ngrams, {"min_count": 1}),
            (collocate.collocations, {"min_count": 1, "of": "cat", "p": True}),
        ):
            assert ask(index, **more).equals(ask(TEXTS, **more))
            with pytest.raises(ValueError, match="analyzer=: not with an Index"):
                ask(index, analyzer="english")
        found, want = (concordance(c, "cat") for c in (index, TEXTS))
        assert list(found) == list(want) and len(want) == 2
        with pytest.raises(TypeError, match="keeps no places"):
            dispersion(index, "cat")
        with pytest.raises(ValueError, match="stopwords=: not with an Index"):
            keywords(index, query="cat", stopwords="list.txt")
        with pytest.raises(ValueError, match="want against="):
            keywords(index, TEXTS, query="cat")
    with collocate.Index.build(TEXTS) as index, pytest.raises(ValueError, match="text"):
        wordlist(index)


def test_dispersion():
    with pytest.warns(CollocateWarning, match='"bird" is not in the vocabulary'):
        found = dispersion(TEXTS, ["the", "bird", '"the c*"'])
    with pytest.warns(CollocateWarning, match="did you mean dog"):
        dispersion(iter(TEXTS), "dogg")
    with pytest.raises(ValueError, match="is for files"):
        dispersion(TEXTS, "the", format="lines")
    assert list(found) == ["the", "bird", '"the c*"']
    assert found["the"].tolist() == pytest.approx([0, 4 / 12, 6 / 12, 9 / 12])
    assert len(found["bird"]) == 0 and found['"the c*"'].tolist() == pytest.approx([0, 9 / 12])
    assert len(dispersion(TEXTS, "cat")["cat"]) == 2
    with pytest.raises(ValueError, match="empty"):
        dispersion(TEXTS, "")


def test_keywords():
    pytest.importorskip("pandas")
    here, there = ["tea tea tea and milk"] * 5, ["coffee and milk and sugar"] * 5
    table = keywords(here, vocabulary(there), by="g2", min_count=1)
    assert table["word"][0] == "tea" and table["f1"][0] == 15 and table["f2"][0] == 0
    assert "coffee" in keywords(here, there, by="g2", negative=True)["word"].tolist()
    grams = keywords(here, there, by="g2", ngram=2, documents=True)
    assert "tea tea" in grams["word"].tolist() and grams["f1"][0] == 5
    with collocate.Index.build([*here, *there], store_text=True) as index:
        found = keywords(index, query="tea", by="g2", min_count=1)
        assert found["word"][0] == "tea" and found["f2"][0] == 0
        assert keywords(index, query="sugar", against="tea", by="g2")["word"][0] == "coffee"
        with pytest.raises(ValueError, match="nothing to compare"):
            keywords(index, query="water")
        with pytest.warns(collocate.CollocateWarning, match="smaller min_count"):
            assert keywords(index, query="sugar", min_count=1000).empty
    with pytest.raises(ValueError, match="reference"):
        keywords(here)
    with pytest.raises(ValueError, match="reference"):
        keywords(here, [])


def test_wrong_arguments_are_named():
    texts = ["strong tea and strong coffee"] * 3
    for call, says in (
        (lambda: collocate.vocabulary(texts, min_count=-1), "min_count: want a whole number that is not"),
        (lambda: collocate.vocabulary(texts, threads=-1), "threads=-1: want at least 0"),
        (lambda: collocate.vocabulary(texts, memory=2), "memory=2: want bytes"),
        (lambda: collocate.cooccurrence(texts, window="x"), "window x: want 1 to"),
        (lambda: collocate.cooccurrence(texts, subsample=float("nan")), "subsample=nan: want"),
        (lambda: collocate.ngrams(texts, "2"), "n='2': want a number"),
    ):
        with pytest.raises(ValueError, match=says):
            call()
    matrix = collocate.cooccurrence(texts)
    with pytest.raises(ValueError, match="by: want a string, not a list"):
        matrix.matrix(by=["pmi"])
    for call in (
        lambda: matrix.neighbours(None),
        lambda: collocate.dispersion(texts, 5),
        lambda: matrix.embed(2, epochs=1).similar(5),
    ):
        with pytest.raises(TypeError, match="want a str"):
            call()
