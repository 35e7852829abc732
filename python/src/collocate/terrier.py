"""PyTerrier: an indexer and a retriever in its pipelines."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from .errors import warn
from .index import Index
from .weights import weighted

# The options of a search, with their defaults.
_OPTIONS = {
    p.name: p.default
    for p in inspect.signature(Index.search).parameters.values()
    if p.kind is p.KEYWORD_ONLY and p.name != "progress"
}


class Indexer(pt.Indexer):  # type: ignore[misc]
    """Indexes an iterable of {"docno": ..., "text": ...}. With `toks`, {word: count}, in place of
    text, these words are indexed as they are. Weights of learned sparse retrieval, in `toks`, need
    analyzer="impact:100", which rounds them to hundredths, or "impact" for whole numbers."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fields: Sequence[str] = ("text",),
        analyzer: str = "english+stop",
        **options: Any,
    ):
        self.path: str | os.PathLike[str] | None = path
        self.fields: list[str] = [fields] if isinstance(fields, str) else list(fields)
        self.analyzer: str = analyzer
        self.options: dict[str, Any] = options

    def index(self, iter: Iterable[Mapping[str, Any]], **_: Any) -> Index:  # noqa: A002
        """Indexes documents and returns the index."""
        documents = chain(iter)
        first = list(islice(documents, 1))
        every = chain(first, documents)
        if first and "toks" in first[0]:
            weights = _of_weights(self.analyzer)
            pairs = (_bag(d, number, weights) for number, d in enumerate(every))
            analyzer = self.analyzer if weights else "whitespace"
            return Index.build(pairs, self.path, analyzer=analyzer, **self.options)
        return Index.build(
            every, self.path, analyzer=self.analyzer,
            fields=self.fields, id_field="docno", **self.options,
        )  # fmt: skip


class Retriever(pt.Transformer):  # type: ignore[misc]
    """Answers queries with the columns of Terrier's: qid, docid, docno, rank, score, query.

    Behind another retriever, or for any input with a column docno or docid, it scores exactly these
    documents, 0 if they do not match. With a column `query_toks`, {word: weight}, each word is
    repeated by its rounded weight, or has this weight in an index with the analyzer impact. options are those of `Index.search`, such as k1 and b, and the
    parameters that `pt.GridSearch` sets.
    """

    def __init__(
        self, index: Index | str | os.PathLike[str], num_results: int = 1000, **options: Any
    ):
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(f"{name}=: want num_results or one of {', '.join(_OPTIONS)}")
        self.index: Index = index if isinstance(index, Index) else Index.open(index)
        self.num_results: int = num_results
        self.options: dict[str, Any] = options

    def get_parameter(self, name: str) -> Any:
        """The value of an option of the search, or of num_results."""
        if name in _OPTIONS:
            return self.options.get(name, _OPTIONS[name])
        return super().get_parameter(name)

    def set_parameter(self, name: str, value: Any) -> None:
        """Sets an option of the search, or num_results."""
        if name in _OPTIONS:
            self.options = {**self.options, name: value}
        else:
            super().set_parameter(name, value)

    def transform_inputs(self) -> list[list[str]]:
        """The columns that `transform` takes."""
        return [["qid", "query"], ["qid", "query", "docno"], ["qid", "query", "docid"]]

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Answers the queries of a DataFrame with a row for each hit, or scores the given rows."""
        if "qid" not in inp.columns or not {"query", "query_toks"} & set(inp.columns):
            raise ValueError(f"queries have the columns {list(inp.columns)}: want qid and query")
        if {"docno", "docid"} & set(inp.columns):
            return self._rerank(inp)
        texts = self._texts(inp)
        found = self.index.search(texts, k=self.num_results, **self.options)
        counts = np.diff(found.offsets)
        left = inp.drop(columns=["rank", "score"], errors="ignore").reset_index(drop=True)
        out = left.loc[left.index.repeat(counts)].reset_index(drop=True)
        out["docid"] = found.docs.astype(np.int64)
        out["docno"] = found.ids
        out["rank"] = np.arange(len(found.docs)) - np.repeat(found.offsets[:-1], counts)
        out["score"] = found.scores.astype(np.float64)
        return out

    def _texts(self, queries: pd.DataFrame) -> list[str]:
        return _texts(queries, _of_weights(self.index.stats["analyzer"]))

    def _rerank(self, inp: pd.DataFrame) -> pd.DataFrame:
        """The rows that are given, with the scores of their documents, best first per query."""
        out = inp.drop(columns=["rank", "score"], errors="ignore").reset_index(drop=True)
        if "docno" in out.columns:
            docs = self.index.find(out["docno"])
            if (docs < 0).any():
                unknown = out["docno"][int(np.argmax(docs < 0))]
                raise ValueError(f"no document of the index has the docno {unknown!r}")
        else:
            docs = out["docid"].to_numpy()
            out["docno"] = self.index.ids(docs)
        out["docid"] = docs.astype(np.int64)
        # Rows of a query may be apart, and only one of them need have its text.
        number, qids = pd.factorize(out["qid"])
        column = "query_toks" if "query_toks" in out.columns else "query"
        asked = out.dropna(subset=[column]).drop_duplicates("qid").set_index("qid")[[column]]
        texts = self._texts(asked.reindex(qids).rename_axis("qid").reset_index())
        order = np.argsort(number, kind="stable")
        ends = np.cumsum(np.bincount(number, minlength=len(qids)))
        scores = np.zeros(len(out))
        scores[order] = self.index._rescore(
            texts, docs[order].astype(np.uint32), ends.astype(np.int64), **self.options
        )
        out["score"] = scores
        out = out.assign(_number=number).sort_values(
            ["_number", "score", "docid"], ascending=[True, False, True], kind="stable"
        )
        out["rank"] = out.groupby("_number").cumcount()
        return out.drop(columns="_number").reset_index(drop=True)[
            [*(c for c in out.columns if c not in ("_number", "rank", "score")), "rank", "score"]
        ]

    def __hash__(self) -> int:
        # PyTerrier's is that of the repr, which changes with parameters while a grid is searched.
        return hash(("collocate.Retriever", self.index.path))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"collocate.Retriever({self.index.path!r}, num_results={self.num_results}{options})"


def _of_weights(analyzer: str) -> bool:
    return analyzer == "impact" or analyzer.startswith("impact:")


def _texts(queries: pd.DataFrame, weights: bool) -> list[str]:
    """The queries as texts."""
    if "query_toks" in queries.columns:
        as_text = _weighted if weights else _repeated
        return [as_text(t, f"qid {q!r}") for q, t in zip(queries["qid"], queries["query_toks"])]
    texts = queries["query"].tolist()
    for qid, text in zip(queries["qid"], texts):
        if not isinstance(text, str):
            raise TypeError(f"qid {qid!r}: the query is of type {type(text).__name__}: want a str")
    return texts


def _bag(document: Mapping[str, Any], number: int, weights: bool) -> tuple[Any, str]:
    for name in ("docno", "toks"):
        if name not in document:
            raise ValueError(f"document {number}: has no {name}: it has {list(document)}")
    toks, of = document["toks"], f"document {number}"
    if weights:
        return document["docno"], _weighted(toks, of)
    broken = [w for w, n in toks.items() if n != round(n)] if isinstance(toks, Mapping) else []
    if broken:
        raise ValueError(
            f"{of}: the weight of {broken[0]!r} is {toks[broken[0]]}, no count: "
            'Indexer(analyzer="impact:100") keeps such weights, rounded to hundredths'
        )
    return document["docno"], _repeated(toks, of)


def _weighted(toks: Any, of: str) -> str:
    """Words with their weights."""
    if not isinstance(toks, Mapping):
        raise TypeError(f"{of}: toks are of type {type(toks).__name__}: want {{word: weight}}")
    try:
        return weighted([toks])[0]
    except (TypeError, ValueError) as e:
        raise type(e)(f"{of}: {e}") from None


def _repeated(toks: Any, of: str) -> str:
    """Words, each as often as its rounded weight."""
    if not isinstance(toks, Mapping):
        raise TypeError(f"{of}: toks are of type {type(toks).__name__}: want {{word: weight}}")
    counts = {w: round(n) for w, n in toks.items()}
    lost = [w for w, n in counts.items() if n <= 0 and toks[w] != 0]
    if lost:
        warn(f"{of}: {lost[0]!r} is left out, since its weight {toks[lost[0]]} rounds to 0 or less")
    if any(len(w.split()) != 1 for w in counts):
        raise ValueError(f"{of}: words of toks have no blanks inside, and are not empty")
    return " ".join(w for w, n in counts.items() for _ in range(n))
