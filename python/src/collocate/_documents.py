"""Documents of any kind as arrays for the worker."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Union

import numpy as np

from ._pipe import Arrays, strings
from .errors import warn

# A path, or documents: texts, (id, text), mappings, ir_datasets' tuples, or a DataFrame.
Corpus = Union[str, "os.PathLike[str]", Iterable[Any]]

_ID_NAMES = ("id", "_id", "pid", "passage_id", "docno", "docid", "doc_id", "document_id")
_TEXT_NAMES = (
    "title", "headline", "headings", "abstract", "text", "body",
    "content", "passage", "paragraph", "segment", "article",
)  # fmt: skip
_GROUP = 1 << 20


def paths_of(corpus: Corpus) -> list[str] | None:
    """The files and folders of a corpus, or None if it is documents."""
    if isinstance(corpus, (str, os.PathLike)):
        return [_path(corpus)]
    if isinstance(corpus, (list, tuple)) and corpus and all(isinstance(p, Path) for p in corpus):
        return [_path(p) for p in corpus]
    if isinstance(corpus, (list, tuple)) and 0 < len(corpus) <= 1000:
        if all(isinstance(p, str) and len(p) < 256 and os.path.isfile(p) for p in corpus):
            warn(
                "each str of the list is indexed as a document, but is also the name of a file: "
                "to read the files, pass a list of pathlib.Path"
            )
    return None


def _path(path: str | os.PathLike[str]) -> str:
    absolute = os.path.abspath(os.fspath(path))
    if not os.path.exists(absolute):
        raise FileNotFoundError(
            f"{os.fspath(path)!r}: no such file or folder (a corpus that is a str is a path; "
            "put documents into a list)"
        )
    return absolute


class Documents:
    """Documents that are in memory, as groups for the worker, as often as they are asked for."""

    def __init__(self, corpus: Iterable[Any], fields: Sequence[str] | None, id_field: str | None):
        if isinstance(corpus, Mapping):
            corpus = _Items(corpus)
        self._columns = _columns(corpus, fields, id_field)
        if self._columns is None:
            self._corpus: Iterable[Any] = corpus
        self._fields, self._id_field = fields, id_field
        self.count = 0

    def again(self) -> None:
        """Makes sure that documents can be gone through twice."""
        if self._columns is None and iter(self._corpus) is self._corpus:
            self._corpus = list(self._corpus)

    def groups(self) -> Iterator[Arrays]:
        self.count = 0
        self._many = 256
        for ids, texts in self._chunks():
            arrays = strings(texts, "texts", "ends")
            if ids is not None:
                arrays.update(strings(ids, "ids", "id_ends"))
            self.count += len(texts)
            # Choose the size of the next group so that it has about a megabyte.
            size = max(1, arrays["texts"].nbytes)
            self._many = max(1, min(1 << 15, 4 * self._many, len(texts) * _GROUP // size))
            yield arrays

    def _chunks(self) -> Iterator[tuple[list[str] | None, list[str]]]:
        if self._columns is not None:
            ids, texts = self._columns
            at = 0
            while at < len(texts):
                to = at + self._many
                yield (ids[at:to] if ids is not None else None), texts[at:to]
                at = to
            return
        documents = iter(self._corpus)
        first = list(islice(documents, 1))
        if not first:
            return
        take = _reader(first[0], self._fields, self._id_field)
        yield take(first, 0)
        at = 1
        while True:
            chunk = list(islice(documents, self._many))
            if not chunk:
                return
            yield take(chunk, at)
            at += len(chunk)


class _Items:
    """The documents of a mapping {id: text} or {id: {"title": ..., "text": ...}}."""

    def __init__(self, corpus: Mapping[Any, Any]):
        self._corpus = corpus

    def __iter__(self) -> Iterator[Any]:
        for name, d in self._corpus.items():
            yield {**d, "id": name} if isinstance(d, Mapping) else (name, d)


@contextmanager
def as_file(
    corpus: Corpus, fields: Sequence[str] | None, id_field: str | None, whole: bool = False
) -> Iterator[str | None]:
    """Documents in memory as a file of JSON lines, while it is needed; None for a path.

    whole keeps all fields of mappings, named tuples and rows.
    """
    if paths_of(corpus) is not None:
        yield None
        return
    assert not isinstance(corpus, (str, os.PathLike))
    handle, name = tempfile.mkstemp(prefix="collocate-", suffix=".jsonl")
    try:
        with open(handle, "w", encoding="utf-8") as out:
            for d in _records(corpus) if whole else _pairs(Documents(corpus, fields, id_field)):
                out.write(json.dumps(d, default=_plain, ensure_ascii=False) + "\n")
        yield name
    finally:
        os.unlink(name)


def _pairs(documents: Documents) -> Iterator[dict[str, str]]:
    number = 0
    documents._many = 1 << 12
    for ids, texts in documents._chunks():
        for i, text in enumerate(texts):
            yield {"id": str(number) if ids is None else ids[i], "contents": text}
            number += 1


def _records(corpus: Any) -> Iterator[dict[str, Any]]:
    if hasattr(corpus, "columns") and hasattr(corpus, "to_dict"):  # pandas, polars
        names = [str(c) for c in corpus.columns]
        columns = [corpus[c].tolist() for c in corpus.columns]
        labels = _labels(corpus)
        if labels is not None and corpus.index.name not in names:
            names, columns = [corpus.index.name, *names], [labels, *columns]
        rows: Iterable[Any] = zip(*columns)
        documents: Iterable[Any] = (dict(zip(names, row)) for row in rows)
    else:
        documents = _Items(corpus) if isinstance(corpus, Mapping) else corpus
    for number, d in enumerate(documents):
        if hasattr(d, "_asdict"):
            d = d._asdict()
        if not isinstance(d, Mapping):
            raise TypeError(
                f"document {number} is of type {type(d).__name__}: with a schema, documents are "
                "mappings, named tuples or rows of a DataFrame"
            )
        yield {str(n): v for n, v in d.items() if v is not None and not _missing(v)}


def _missing(value: Any) -> bool:
    """Whether a value is one of pandas' missing ones, of which none equals itself."""
    if isinstance(value, (str, list, tuple, dict)):
        return False
    return bool(value != value) or str(value) in ("NaT", "<NA>")


def _plain(value: Any) -> Any:
    """What JSON has no name for: NumPy's numbers, dates."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def _reader(first: Any, fields: Sequence[str] | None, id_field: str | None) -> Any:
    """What turns documents like the first into IDs and texts."""
    if isinstance(first, str):

        def plain(chunk: list[Any], at: int) -> tuple[None, list[str]]:
            try:
                "".join(chunk)
            except TypeError as err:
                raise TypeError(f"documents {at} to {at + len(chunk) - 1}: {err}") from None
            return None, chunk

        return plain
    if isinstance(first, Mapping):
        names = _Fields(list(first), fields, id_field)
        get: Any = _item
    elif hasattr(first, "_fields"):  # a named tuple, as of ir_datasets
        names = _Fields(list(first._fields), fields, id_field)
        get = _attribute
    elif isinstance(first, (tuple, list)) and len(first) == 2:
        return lambda chunk, at: ([str(d[0]) for d in chunk], [_text(d[1]) for d in chunk])
    else:
        files = "; paths go into a list" if isinstance(first, os.PathLike) else ""
        raise TypeError(
            f"documents are of type {type(first).__name__}: want str, pairs (id, text), "
            f"mappings or named tuples{files}"
        )

    def fielded(chunk: list[Any], at: int) -> tuple[list[str] | None, list[str]]:
        ids = None
        if names.id is not None:
            ids = [_id(get(d, names.id), at + i) for i, d in enumerate(chunk)]
        texts = []
        for i, d in enumerate(chunk):
            values = [get(d, name) for name in names.text]
            present = [_text(v) for v in values if v is not None]
            if not present:
                raise ValueError(f"document {at + i}: has none of the fields {names.text}")
            texts.append("\n".join(v for v in present if v))
        return ids, texts

    return fielded


def _item(document: Any, name: str) -> Any:
    return document.get(name)


def _attribute(document: Any, name: str) -> Any:
    return getattr(document, name, None)


class _Fields:
    """Which fields hold the ID and the text; what was left out is said once."""

    def __init__(self, names: list[str], fields: Sequence[str] | None, id_field: str | None):
        lower = {n.lower(): n for n in reversed([str(n) for n in names])}
        self.id = id_field or next((lower[n] for n in _ID_NAMES if n in lower), None)
        if id_field and id_field not in names:
            raise ValueError(f"id_field={id_field!r}: documents have {names}")
        if fields:
            self.text = list(fields)
            missing = [f for f in self.text if f not in names]
            if len(missing) == len(self.text):
                raise ValueError(f"fields={missing}: documents have {names}")
            return
        if "contents" in lower:
            self.text = [lower["contents"]]
        else:
            self.text = [lower[n] for n in _TEXT_NAMES if n in lower]
        if not self.text:
            raise ValueError(f"none of the fields {names} is known to hold text: pass fields=")
        left = [n for n in names if n != self.id and n not in self.text]
        if left:
            warn(
                f"text: {', '.join(self.text)}; left out: {', '.join(map(str, left))} "
                "(others: fields=)"
            )


def _text(value: Any) -> str:
    if value is None or isinstance(value, float) and value != value:  # pandas' missing values
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        raise TypeError(f"the text {value[:20]!r} is bytes: decode it first")
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):  # paragraphs
        parts = value if isinstance(value, (list, tuple)) else np.atleast_1d(value).tolist()
        return "\n".join(filter(None, map(_text, parts)))
    return str(value)


def _id(value: Any, number: int) -> str:
    if value is None or isinstance(value, float) and value != value:
        raise ValueError(f"document {number}: has no ID")
    return value if isinstance(value, str) else str(value)


def _columns(
    corpus: Any, fields: Sequence[str] | None, id_field: str | None
) -> tuple[list[str] | None, list[str]] | None:
    """IDs and texts of a DataFrame, a Series, an array or a list of strings."""
    if hasattr(corpus, "columns") and hasattr(corpus, "to_dict"):  # pandas, polars
        names = _Fields([str(c) for c in corpus.columns], fields, id_field)
        ids = _labels(corpus)
        if names.id is not None:
            ids = [_id(v, i) for i, v in enumerate(corpus[names.id].tolist())]
        columns = [corpus[name].tolist() for name in names.text]
        if len(columns) == 1:
            return ids, [_text(v) for v in columns[0]]
        rows = ([_text(v) for v in row] for row in zip(*columns))
        return ids, ["\n".join(v for v in row if v) for row in rows]
    labels = None
    if isinstance(corpus, np.ndarray) or hasattr(corpus, "tolist"):
        labels = _labels(corpus)
        corpus = corpus.tolist()
    if isinstance(corpus, list) and corpus and isinstance(corpus[0], str):
        for i, v in enumerate(corpus):
            if not isinstance(v, str):
                raise TypeError(f"document {i} is of type {type(v).__name__}: want a str")
        return labels, corpus
    if isinstance(corpus, list) and not corpus:
        return None, []
    return None


def _labels(rows: Any) -> list[str] | None:
    """The IDs of rows whose index is named as such."""
    name = getattr(getattr(rows, "index", None), "name", None)
    if not isinstance(name, str) or name.lower() not in _ID_NAMES:
        return None
    return [_id(v, i) for i, v in enumerate(rows.index.tolist())]
