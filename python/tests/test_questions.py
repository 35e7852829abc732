"""Everything that a search can be asked, as docs/reference.md lists it."""

import inspect

import pytest

import collocate

FILMS = [
    {"id": "a", "title": "night train", "text": "a train robbery at night", "year": 1960, "kind": "crime"},
    {"id": "b", "title": "night", "text": "train stations of the world", "year": 1975, "kind": "travel"},
    {"id": "c", "title": "the robbery", "text": "a bank and a train", "year": 1962, "kind": "crime"},
    {"id": "d", "title": "birds", "text": "how birds sleep", "year": 1999, "kind": "nature"},
]


@pytest.fixture(scope="module")
def films():
    schema = ["title:text", "text:text", "year:number", "kind:keyword"]
    with collocate.Index.build(FILMS, schema=schema, positions=True, store_text=True) as index:
        yield index


def ids(hits):
    return list(hits.ids)


def test_paging(films):
    every = ids(films.search("train night robbery"))
    assert ids(films.search("train night robbery", 1, from_=1)) == every[1:2]
    many = films.search(["train night robbery", "birds"], 2, from_=1)
    assert [ids(h) for h in many] == [every[1:3], []]


def test_counts_and_facets(films):
    hits = films.search("train", 1, count=True, facet=["kind", "year/10"])
    assert hits.total == 3 and len(hits) == 1
    kinds = {v["value"]: v["docs"] for v in hits.facets[0]["values"]}
    assert kinds == {"crime": 2, "travel": 1}
    assert [f["field"] for f in hits.facets] == ["kind", "year"]
    assert films.search("train").total is None
    with pytest.raises(ValueError, match="count, facet and a k of 0 are for one query"):
        films.search(["train"], count=True)
    with pytest.raises(ValueError, match="^search: facet|facet"):
        films.search("train", facet="colour")


def test_sorting(films):
    assert ids(films.search("train", sort="year:desc")) == ["b", "c", "a"]
    assert [ids(h) for h in films.search(["train"], sort="year")] == [["a", "c", "b"]]


def test_expansion_and_proximity(films):
    hits = films.search("robbery", expand="rm3:docs=2,terms=5")
    assert hits.expanded == {"robbery": 0.5}  # no other word is frequent enough here
    assert films.search("robbery").expanded == {}
    assert hits.explain() and hits.snippets()
    near = films.search("train robbery", proximity="sdm")
    assert ids(near)[0] == "a"
    with pytest.raises(ValueError, match="expand: want plain words"):
        films.search("+robbery", expand="rm3", syntax=True)


def test_models(films):
    title = films.search("night", field_weights={"title": 1})
    assert ids(title) == ["b", "a"]  # the shorter title first
    assert ids(films.search("night", field_weights="text=1")) == ["a"]
    assert len(films.search("train train", k3=0)) == 3
    with pytest.raises(ValueError, match="field_weights: it belongs to the model bm25f, not to dph"):
        films.search("night", model="dph", field_weights="title=1")
    with pytest.raises(ValueError, match="mu: it belongs to the model dirichlet, not to bm25"):
        films.search("night", mu=100)


def test_filters_keep_scores(films):
    every = dict(zip(films.search("train night").ids, films.search("train night").scores))
    for hit in films.search("train night", filter="kind:crime"):
        assert hit.score == pytest.approx(every[hit.id], abs=0)


def test_expansion_within_a_filter(films):
    every = films.search("train robbery", 100, proximity="sdm")
    near = films.search("train robbery", 100, proximity="sdm", filter="kind:crime", count=True)
    crime = set(films.search("*", 100, syntax=True, filter="kind:crime").ids)
    assert near.total == len(near) == 2
    assert list(zip(near.ids, near.scores)) == [
        (doc, score) for doc, score in zip(every.ids, every.scores) if doc in crime
    ]
    grown = films.search("robbery", 100, expand="bo1", filter="kind:crime")
    assert set(grown.ids) <= crime and len(grown.expanded) > 1
    # Words are added from documents that pass the filter.
    passed = " ".join(str(film) for film in FILMS if film["id"] in crime)
    assert all(word in passed for word in grown.expanded)


def test_functions_have_the_declared_parameters(films, tmp_path, monkeypatch):
    wordlist = inspect.signature(collocate.wordlist).parameters
    assert wordlist["parts"].default == 0 and wordlist["analyzer"].default == "unicode"
    assert "parts: measure dispersion over" in collocate.wordlist.__doc__
    assert inspect.signature(collocate.Index.search).parameters["from_"].default == 0
    with pytest.raises(TypeError, match="wordlist has no argument tops"):
        collocate.wordlist(["a b"], tops=3)
    with pytest.raises(ValueError, match="analyzer=: not with an Index"):
        films.concordance("train", analyzer="english")
    # Files are found from where Python is, though the worker is elsewhere.
    (tmp_path / "stop.txt").write_text("the\n")
    monkeypatch.chdir(tmp_path)
    assert collocate.vocabulary(["the cat"], stopwords="stop.txt").words == ["cat"]
