"""Results of searches, and how they are shown."""

from __future__ import annotations

import html
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from .errors import need

if TYPE_CHECKING:
    import pandas as pd

    from ._pipe import Answer
    from .index import Index


class Hit(NamedTuple):
    """One hit: the document's ID, its score, and its number in the index."""

    id: str
    score: float
    doc: int


@dataclass
class Snippet:
    """A piece of a document's text.

    marks are the places of the query's words, start and end in UTF-8 bytes. before and after say
    whether the document has more text there. start and end are where the piece is in the stored
    text of the document, in UTF-8 bytes.
    """

    text: str
    marks: list[dict[str, int]] = field(default_factory=list)
    before: bool = False
    after: bool = False
    start: int = 0
    end: int = 0

    def __post_init__(self) -> None:
        self.marks = self.marks or []

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with True if it is a word of the query."""
        raw = self.text.encode()
        at = 0
        for m in self.marks:
            yield raw[at : m["start"]].decode("utf-8", "replace"), False
            yield raw[m["start"] : m["end"]].decode("utf-8", "replace"), True
            at = m["end"]
        yield raw[at:].decode("utf-8", "replace"), False

    def __str__(self) -> str:
        marked = "".join(f"*{t}*" if m else t for t, m in self.pieces())
        return ("…" if self.before else "") + marked + ("…" if self.after else "")

    def _repr_html_(self) -> str:
        marked = "".join(
            f"<b>{html.escape(t)}</b>" if m else html.escape(t) for t, m in self.pieces()
        )
        return ("…" if self.before else "") + marked + ("…" if self.after else "")


@dataclass
class Explanation:
    """How a score comes about: it is the sum of the words' scores.

    documents is the number of documents of the index, mean_length their mean length in words. With
    BM25 the words have their idf, so that a score can be recomputed. tree has instead of words the
    parts of a query with operators, and vector the part of a vector.
    """

    model: str
    length: int
    score: float
    words: list[dict[str, Any]]
    documents: int | None = None
    mean_length: float | None = None
    tree: dict[str, Any] | None = None
    vector: dict[str, Any] | None = None

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each word."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(self.words)

    def _repr_html_(self) -> str:
        return _table(
            ["word", "weight", "df", "tf", "score"],
            [[w["word"], w["weight"], w["df"], w["tf"], f"{w['score']:.4f}"] for w in self.words],
            f"{self.model}: score {self.score:.4f}, {self.length} words",
        )


class Hits:
    """The hits of one query, best first. Iterating yields `Hit`s.

    docs and scores are arrays: the numbers of the documents, and their scores. seconds is the time
    that the search itself took. notes says what of the query may not mean what was intended and, if
    nothing was found, which parts no document has. total is the number of matching documents, if
    it was asked for (count=True, or k=0), facets the counts of field values (facet=...), and
    expanded the words of an expanded query with their weights (expand=...).
    """

    def __init__(
        self, index: Index, query: str, args: dict[str, Any],
        docs: np.ndarray, scores: np.ndarray, ids: list[str] | None = None,
    ):  # fmt: skip
        self._index, self._args = index, args
        self.query: str = query
        self._generation = index._generation
        self.docs: np.ndarray = docs
        self.scores: np.ndarray = scores
        self.seconds: float = 0.0  # duration of the search itself
        self.notes: list[str] = []
        self.total: int | None = None
        self.facets: list[dict[str, Any]] = []
        self.expanded: dict[str, float] = {}
        self._next: str | None = None  # where the next page begins, if there may be one
        self._ids: np.ndarray | None = None
        self._listed = ids  # IDs that came with the hits, or None; an array on first use

    @property
    def ids(self) -> np.ndarray:
        """The IDs, an array of str."""
        if self._ids is None and self._listed is not None:
            self._ids = np.empty(len(self._listed), dtype=object)
            self._ids[:] = self._listed
        if self._ids is None:
            self._index._check(self._generation)
            self._ids = self._index.ids(self.docs)
        return self._ids

    def __len__(self) -> int:
        return len(self.docs)

    def __iter__(self) -> Iterator[Hit]:
        for i, s, d in zip(self.ids, self.scores.tolist(), self.docs.tolist()):
            yield Hit(i, s, d)

    @overload
    def __getitem__(self, i: int) -> Hit: ...
    @overload
    def __getitem__(self, i: slice) -> Hits: ...
    def __getitem__(self, i: int | slice) -> Hit | Hits:
        if isinstance(i, slice):
            part = Hits(self._index, self.query, self._args, self.docs[i], self.scores[i])
            part._generation = self._generation
            if self._ids is not None:
                part._ids = self._ids[i]
            elif self._listed is not None:
                part._listed = self._listed[i]
            return part
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"hit {i} of {len(self)}")
        return Hit(self.ids[i], float(self.scores[i]), int(self.docs[i]))

    def snippets(self, size: int = 200) -> list[Snippet]:
        """Text around the query's words, for each hit. The index must have stored its text."""
        self._index._check(self._generation)
        return self._index.snippets(self.query, self.docs, size, **self._args)

    def fields(self, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The stored fields of the documents, all or those named."""
        self._index._check(self._generation)
        return self._index.stored(self.docs, names)

    def explain(self) -> list[Explanation]:
        """Explains the score of each hit, word by word."""
        self._index._check(self._generation)
        return self._index.explain(self.query, self.docs, **self._args)

    def reranked(self, score: Callable[[str, list[str]], Any]) -> Hits:
        """The same hits with other scores, best first; equal ones keep their order.

        `score` gets the query and the stored texts of the hits, and returns a number for each, as
        a cross-encoder does:

            hits = ix.search(query, 100).reranked(lambda q, texts: [model(q, t) for t in texts])[:10]

        It may look at more, such as `hits.explain()`, which has features of each word, or
        `hits.fields()`.
        """
        self._index._check(self._generation)
        texts = self._index.texts(self.docs) if len(self) else []
        scores = np.asarray(score(self.query, texts), dtype=np.float32).ravel()
        if len(scores) != len(self):
            raise ValueError(f"{len(scores)} scores for {len(self)} hits: want one for each")
        if not np.isfinite(scores).all():
            raise ValueError("a score is not a finite number")
        order = np.argsort(-scores, kind="stable")
        again = Hits(self._index, self.query, self._args, self.docs[order], scores[order])
        again._generation, again._ids = self._generation, self.ids[order]
        again.total, again.facets, again.notes = self.total, self.facets, self.notes
        return again

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the columns rank, id, score and doc."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(
            {"rank": np.arange(len(self)), "id": self.ids, "score": self.scores, "doc": self.docs}
        )

    def __repr__(self) -> str:
        lines = [f"<Hits of {self.query!r}: {len(self)}>"]
        lines += [f"{h.score:9.4f}  {h.id}" for h in _first(self, 10)]
        lines += ["..."] if len(self) > 10 else []
        return "\n".join(lines + self.notes)

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = [
            [n, h.id, f"{h.score:.4f}"] for n, h in enumerate(_first(self, 20))
        ]
        heads = ["rank", "id", "score"]
        if self._index.stats["stored_text"] and len(self):
            heads.append("text")
            pieces = self._index.snippets(self.query, self.docs[:20], **self._args)
            rows = [[*row, Raw(s._repr_html_())] for row, s in zip(rows, pieces)]
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return _table(heads, rows, f"{self.query}: {len(self)} hits") + notes


class Concordance:
    """Words in context, one occurrence per line. Iterating yields dicts.

    total is the number of matches (at least that, if `all` is False), documents the number of
    documents that have one.
    """

    def __init__(self, found: Answer):
        self.lines: list[dict[str, Any]] = found.rows("lines")
        self.total: int = found.result["total"]  # number of matches
        self.all: bool = found.result["all"]  # whether total has all matches; if not, there are more
        self.documents: int = found.result["documents"]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.lines)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.lines[i]

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the columns document, place, left, match and right."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(self.lines, columns=["document", "place", "left", "match", "right"])

    def __repr__(self) -> str:
        more = "" if self.all else " and more"
        lines = [f"<Concordance: {self.total} matches{more}>"]
        lines += [f"{x['left'][-38:]:>38} {x['match']} {x['right'][:38]}" for x in self.lines[:20]]
        return "\n".join(lines + (["..."] if len(self) > 20 else []))

    def _repr_html_(self) -> str:
        rows = [
            [x["document"], Raw(f"<div style='text-align:right'>{html.escape(x['left'])}</div>"),
             Raw(f"<b>{html.escape(x['match'])}</b>"), x["right"]]
            for x in self.lines[:50]
        ]  # fmt: skip
        return _table(["document", "left", "match", "right"], rows, f"{self.total} matches")


class BatchHits:
    """The hits of many queries. Those of query i are `batch[i]`.

    docs and scores hold the hits of all queries one after the other; those of query i are at
    offsets[i] to offsets[i+1]. seconds is the time that the searches themselves took.
    """

    def __init__(
        self, index: Index, queries: list[str], args: dict[str, Any],
        offsets: np.ndarray, docs: np.ndarray, scores: np.ndarray,
        query_ids: list[Any] | None = None,
    ):  # fmt: skip
        self._index, self._args = index, args
        self.queries: list[str] = queries
        self._generation = index._generation
        self.offsets: np.ndarray = offsets
        self.docs: np.ndarray = docs
        self.scores: np.ndarray = scores
        self.query_ids: list[Any] | None = query_ids  # set if queries were given as a mapping
        self.seconds: float = 0.0  # duration of the searches themselves
        self.notes: list[str] = []  # what of the queries may not mean what was intended
        self._ids: np.ndarray | None = None

    @property
    def ids(self) -> np.ndarray:
        """The IDs of all hits, an array of str as long as docs."""
        if self._ids is None:
            self._index._check(self._generation)
            self._ids = self._index.ids(self.docs)
        return self._ids

    def __len__(self) -> int:
        return len(self.queries)

    @overload
    def __getitem__(self, i: int) -> Hits: ...
    @overload
    def __getitem__(self, i: slice) -> list[Hits]: ...
    def __getitem__(self, i: int | slice) -> Hits | list[Hits]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"query {i} of {len(self)}")
        i %= len(self)
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        hits = Hits(self._index, self.queries[i], self._args, self.docs[part], self.scores[part])
        hits._generation = self._generation
        if self._ids is not None:
            hits._ids = self._ids[part]
        return hits

    def __iter__(self) -> Iterator[Hits]:
        return (self[i] for i in range(len(self)))

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        """Documents and scores as arrays with a row per query, padded with -1 and 0."""
        k = int(self._args["k"])
        counts = np.diff(self.offsets)
        docs = np.full((len(self), k), -1, dtype=np.int64)
        scores = np.zeros((len(self), k), dtype=np.float32)
        there = np.arange(k)[None, :] < counts[:, None]
        docs[there] = self.docs
        scores[there] = self.scores
        return docs, scores

    def to_pandas(self, query_ids: Any = None) -> pd.DataFrame:
        """A DataFrame with the columns query, rank, id, score and doc."""
        pd = need("pandas", "pandas")
        counts = np.diff(self.offsets)
        names = np.asarray(self._names(query_ids, range(len(self))))
        return pd.DataFrame(
            {
                "query": np.repeat(names, counts),
                "rank": np.arange(len(self.docs)) - np.repeat(self.offsets[:-1], counts),
                "id": self.ids,
                "score": self.scores,
                "doc": self.docs,
            }
        )

    def _names(self, query_ids: Any, otherwise: Any = None) -> list[Any]:
        """An ID for each query: those given, or those of the mapping that was searched for."""
        given = self.query_ids if query_ids is None else query_ids
        if given is None:
            given = otherwise
        if given is None:
            raise ValueError("queries have no IDs: pass query_ids=, or search for {ID: query}")
        names = list(given)
        if len(names) != len(self):
            raise ValueError(f"{len(names)} IDs for {len(self)} queries")
        return names

    def to_run(self, query_ids: Any = None) -> dict[str, dict[str, float]]:
        """A run for `evaluate`, pytrec_eval or ir_measures: {query: {document: score}}.

        These sort a run by its scores. So that the order of the hits is kept, of equal scores each
        is the next smaller float32, as in a run that `collocate search` writes.
        """
        ids, ends = self.ids, self.offsets.tolist()
        scores = _decreasing(self.scores, self.offsets).tolist()
        run: dict[str, dict[str, float]] = {}
        for i, q in enumerate(self._names(query_ids)):
            if str(q) in run:
                raise ValueError(f"two queries have the ID {str(q)!r}")
            run[str(q)] = dict(zip(ids[ends[i] : ends[i + 1]], scores[ends[i] : ends[i + 1]]))
        return run

    def __repr__(self) -> str:
        return f"<BatchHits: {len(self):,} queries, {len(self.docs):,} hits>"

    def _repr_html_(self) -> str:
        rows = [[h.query, len(h), h.ids[0] if len(h) else ""] for h in self[:10]]
        return _table(["query", "hits", "best"], rows, repr(self)[1:-1])


def _decreasing(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The scores, of which those of a query decrease strictly."""
    tied = np.zeros(len(scores), bool)
    tied[1:] = scores[1:] >= scores[:-1]
    starts = offsets[:-1]
    tied[starts[starts < len(scores)]] = False
    if not tied.any():
        return scores
    scores = scores.copy()
    low = np.float32(-np.inf)
    first = {int(i) for i in starts}
    end = len(scores)
    for i in np.flatnonzero(tied).tolist():
        # A score that was lowered may have reached the next ones.
        while i < end and i not in first and scores[i] >= scores[i - 1]:
            scores[i] = np.nextafter(scores[i - 1], low)
            i += 1
    return scores


class Raw(str):
    """HTML as it is."""


def _first(hits: Hits, n: int) -> list[Hit]:
    return list(hits[:n])


def _table(heads: list[str], rows: list[list[Any]], caption: str = "") -> str:
    """A table for notebooks."""

    def cell(v: Any) -> str:
        return v if isinstance(v, Raw) else html.escape(str(v))

    head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell(v)}</td>" for v in row) + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
