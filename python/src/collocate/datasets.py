"""Test collections: folders in BEIR's layout, and collections of ir_datasets."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple


class Dataset(NamedTuple):
    """Documents to index, queries by ID, and judgments {query: {document: grade}}."""

    corpus: Any
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def beir(folder: str | os.PathLike[str], split: str = "test") -> Dataset:
    """A dataset in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."""
    queries = {}
    with open(os.path.join(folder, "queries.jsonl"), encoding="utf-8") as f:
        for line in f:
            if line.strip():
                q = json.loads(line)
                queries[str(q["_id"])] = q["text"]
    qrels: dict[str, dict[str, int]] = {}
    with open(os.path.join(folder, "qrels", f"{split}.tsv"), encoding="utf-8", newline="") as f:
        rows = csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows, None)  # the header
        for query, doc, grade in rows:
            qrels.setdefault(query, {})[doc] = int(grade)
    corpus = os.path.join(folder, "corpus.jsonl")
    return Dataset(corpus, {q: t for q, t in queries.items() if q in qrels}, qrels)


class _Docs:
    """Documents that can be gone through several times."""

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for d in self._dataset.docs_iter():
            yield d.doc_id, _text(d)


def _text(document: Any) -> str:
    if hasattr(document, "default_text"):
        return str(document.default_text())
    fields = [v for n, v in zip(document._fields, document) if n != "doc_id" and v]
    return "\n".join(v for v in fields if isinstance(v, str))


def ir_dataset(name: Any) -> Dataset:
    """A dataset of ir_datasets, by name or as an object that it loaded."""
    if isinstance(name, str):
        import ir_datasets

        name = ir_datasets.load(name)
    queries = {q.query_id: _query(q) for q in name.queries_iter()} if name.has_queries() else {}
    qrels: dict[str, dict[str, int]] = {}
    if name.has_qrels():
        for j in name.qrels_iter():
            qrels.setdefault(j.query_id, {})[j.doc_id] = j.relevance
    return Dataset(_Docs(name), queries, qrels)


def _query(query: Any) -> str:
    if hasattr(query, "default_text"):
        return str(query.default_text())
    return str(query.text if hasattr(query, "text") else query[1])
