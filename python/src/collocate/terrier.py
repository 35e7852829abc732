"""PyTerrier: an indexer and a retriever in its pipelines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from .index import Index


class Indexer(pt.Indexer):  # type: ignore[misc]
    """Indexes an iterable of {"docno": ..., "text": ...}. With `toks`, {word: count}, in place of
    text, these words are indexed as they are."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fields: Sequence[str] = ("text",),
        analyzer: str = "english+stop",
        **options: Any,
    ):
        self.path: str | os.PathLike[str] | None = path
        self.fields: list[str] = list(fields)
        self.analyzer: str = analyzer
        self.options: dict[str, Any] = options

    def index(self, iter: Iterable[Mapping[str, Any]], **_: Any) -> Index:  # noqa: A002
        """Indexes documents and returns the index."""
        documents = _peek(iter)
        first = documents[0]
        analyzer = "whitespace" if first is not None and "toks" in first else self.analyzer
        pairs = ((d["docno"], _text(d, self.fields)) for d in documents[1])
        return Index.build(pairs, self.path, analyzer=analyzer, **self.options)


class Retriever(pt.Transformer):  # type: ignore[misc]
    """Answers queries with the columns of Terrier's: qid, docid, docno, rank, score, query.

    With a column `query_toks`, {word: weight}, each word is repeated by its rounded weight.
    """

    def __init__(
        self, index: Index | str | os.PathLike[str], num_results: int = 1000, **options: Any
    ):
        self.index: Index = index if isinstance(index, Index) else Index.open(index)
        self.num_results: int = num_results
        self.options: dict[str, Any] = options

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Answers the queries of a DataFrame, with a row for each hit."""
        if "query_toks" in inp.columns:
            texts = [_repeated(t) for t in inp["query_toks"]]
        else:
            texts = [str(q) for q in inp["query"]]
        found = self.index.search(texts, k=self.num_results, **self.options)
        counts = np.diff(found.offsets)
        left = inp.drop(columns=["docid", "docno", "rank", "score"], errors="ignore")
        out = left.loc[left.index.repeat(counts)].reset_index(drop=True)
        out["docid"] = found.docs.astype(np.int64)
        out["docno"] = found.ids
        out["rank"] = np.arange(len(found.docs)) - np.repeat(found.offsets[:-1], counts)
        out["score"] = found.scores.astype(np.float64)
        return out

    def __repr__(self) -> str:
        return f"collocate.Retriever({self.index!r})"


def _peek(documents: Iterable[Any]) -> tuple[Any, Iterable[Any]]:
    """The first document, and all of them."""
    it = iter(documents)
    first = next(it, None)

    def all_of_them() -> Iterable[Any]:
        if first is not None:
            yield first
            yield from it

    return first, all_of_them()


def _text(document: Mapping[str, Any], fields: Sequence[str]) -> str:
    if "toks" in document:
        return _repeated(document["toks"])
    return "\n".join(str(document[f]) for f in fields if document.get(f))


def _repeated(toks: Mapping[str, float]) -> str:
    return " ".join(w for w, n in toks.items() for _ in range(round(n)))
