"""Documents of any kind as arrays for the worker."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from io import TextIOBase
from itertools import islice
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple, Union
from uuid import UUID

import numpy as np

from ._pipe import Arrays, strings
from .errors import warn

# A path, or documents: texts, (id, text), mappings, ir_datasets' tuples, or a DataFrame.
Corpus = Union[str, "os.PathLike[str]", Iterable[Any]]

# The usual names, in any case, as package text has them for files.
_ID_NAMES = ("id", "_id", "pid", "passage_id", "docno", "docid", "doc_id", "document_id")
_TEXT_NAMES = (
    "title", "headline", "headings", "abstract", "text", "body",
    "content", "passage", "paragraph", "segment", "article",
)  # fmt: skip
_GROUP = 1 << 20
_HEAD = 16  # documents whose fields are described before any is indexed, as for files
_SHAPES = 1000  # sets of field names that are remembered; where names are data they never end


def paths_of(corpus: Corpus) -> list[str] | None:
    """The files and folders of a corpus, or None if it is documents."""
    if isinstance(corpus, (str, os.PathLike)):
        return [_path(corpus)]
    if isinstance(corpus, (bytes, bytearray, memoryview)):
        raise TypeError("the corpus is bytes: decode it first, and put documents into a list")
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

    def __init__(
        self,
        corpus: Any,
        fields: Sequence[str] | None,
        id_field: str | None,
        unique: bool = False,
    ):
        """unique refuses an index of pandas that repeats labels, which would be IDs."""
        self._fields, self._id_field = listed(fields), id_field
        table = _table(corpus, unique)
        self._columns = None
        if table is None:
            self._corpus = _listed(corpus, unique)
        else:
            self._columns = table.texts(self._fields, id_field)
        self._described = False

    def again(self) -> None:
        """Makes sure that documents can be gone through twice."""
        if self._columns is None:
            self._corpus.keep()

    def groups(self) -> Iterator[Arrays]:
        self._many = 256
        at = 0
        for ids, texts in self.chunks():
            arrays = _strings(texts, "texts", "ends", at)
            if ids is not None:
                arrays.update(_strings(ids, "ids", "id_ends", at))
            at += len(texts)
            # Choose the size of the next group so that it has about a megabyte.
            size = max(1, arrays["texts"].nbytes)
            self._many = max(1, min(1 << 15, 4 * self._many, len(texts) * _GROUP // size))
            yield arrays

    def chunks(self) -> Iterator[tuple[list[str] | None, list[str]]]:
        """IDs, None if documents are numbered, and texts."""
        if self._columns is not None:
            ids, texts = self._columns
            at = 0
            while at < len(texts):
                to = at + self._many
                yield (ids[at:to] if ids is not None else None), texts[at:to]
                at = to
            return
        reader = _Reader(self._fields, self._id_field, quiet=self._described)
        at = 0
        for chunk in self._corpus.chunks(lambda: self._many):
            yield reader.take(chunk, at)
            at += len(chunk)
        reader.end()
        self._described = True  # warn in the first pass only


def _strings(values: list[str], name: str, ends: str, at: int) -> dict[str, np.ndarray]:
    try:
        return strings(values, name, ends)
    except UnicodeEncodeError as err:
        for i, v in enumerate(values, at):
            try:
                v.encode()
            except UnicodeEncodeError:
                raise ValueError(f"document {i}: is not valid Unicode: {err}") from None
        raise


class _Labelled:
    """Documents one after the other, with labels that are their IDs or None."""

    def __init__(self, documents: Iterable[Any], labels: Iterable[Any] | None, own: bool = False):
        self._documents, self._labels = documents, labels
        self._own = own  # an ID inside of a document comes before its label

    def keep(self) -> None:
        if iter(self._documents) is self._documents:
            self._documents = list(self._documents)

    def chunks(self, size: Any) -> Iterator[list[Any]]:
        every: Iterator[Any] = iter(self._documents)
        if self._labels is not None:
            every = (_Pair(n, d, self._own) for n, d in zip(self._labels, every))
        while chunk := list(islice(every, size())):
            yield chunk


class _Pair(NamedTuple):
    """A document with the label of a Series or the key of a mapping."""

    label: Any
    document: Any
    own: bool


def _listed(corpus: Any, unique: bool) -> _Labelled:
    """What is not a table: a mapping, a Series, an array, or any iterable."""
    if isinstance(corpus, Mapping):
        return _Labelled(corpus.values(), corpus.keys())
    values = corpus
    if isinstance(corpus, TextIOBase):
        warn("each line of the open file is a document: pass its path to read it by its format")
    if hasattr(corpus, "to_pylist"):  # pyarrow
        values = corpus.to_pylist()
    elif hasattr(corpus, "dtype"):  # NumPy, pandas; polars
        values = corpus.tolist() if hasattr(corpus, "tolist") else corpus.to_list()
    try:
        if isinstance(values, (str, bytes)):  # an array without dimensions
            raise TypeError
        iter(values)
    except TypeError:
        raise TypeError(
            f"the corpus is of type {type(corpus).__name__}: want a path, a DataFrame, "
            "or an iterable of documents"
        ) from None
    return _Labelled(values, _labels(corpus, "Series", unique), own=True)


@contextmanager
def as_file(
    corpus: Corpus,
    fields: Sequence[str] | None,
    id_field: str | None,
    whole: bool = False,
    need_ids: bool = False,
    unique: bool = False,
) -> Iterator[str | None]:
    """Documents in memory as a file of JSON lines, while it is needed; None for a path.

    whole keeps all fields of mappings, named tuples and rows. need_ids refuses documents without
    an ID, unique an index of pandas that repeats labels.
    """
    if paths_of(corpus) is not None:
        yield None
        return
    assert not isinstance(corpus, (str, os.PathLike))
    handle, name = tempfile.mkstemp(prefix="collocate-", suffix=".jsonl")
    try:
        with open(handle, "w", encoding="utf-8") as out:
            if whole:
                documents: Iterator[Any] = _records(corpus, id_field, need_ids, unique)
            else:
                documents = _pairs(Documents(corpus, fields, id_field))
            for number, d in enumerate(documents):
                try:
                    line = json.dumps(d, default=_plain, ensure_ascii=False, allow_nan=False)
                    out.write(line + "\n")
                except UnicodeEncodeError as err:
                    raise ValueError(f"document {number}: is not valid Unicode: {err}") from None
                except ValueError:
                    raise ValueError(
                        f"document {number}: a number is infinite, or one of a list is NaN: "
                        "give it no value"
                    ) from None
                except TypeError as err:
                    raise TypeError(f"document {number}: a value {err}") from None
        yield name
    finally:
        os.unlink(name)


def _pairs(documents: Documents) -> Iterator[dict[str, str]]:
    number = 0
    documents._many = 1 << 12
    for ids, texts in documents.chunks():
        for i, text in enumerate(texts):
            yield {"id": str(number) if ids is None else ids[i], "contents": text}
            number += 1


def _records(
    corpus: Any, id_field: str | None, need_ids: bool, unique: bool
) -> Iterator[dict[str, Any]]:
    """Documents with all their fields, and an ID in `id_field` or `id`."""
    table = _table(corpus, unique)
    if table is None:
        documents = _listed(corpus, unique)
    else:
        documents = _Labelled(table.rows(), table.labels(), own=True)
    reader = _Reader([], id_field)
    number = 0
    for chunk in documents.chunks(lambda: 1 << 12):
        for d in chunk:
            record = reader.record(d, number)
            if need_ids and not reader.named:
                raise ValueError(f"document {number}: has no ID: documents that are added need IDs")
            yield record
            number += 1


class _Plan(NamedTuple):
    """Where documents with the same fields have what is wanted."""

    ids: list[Any]  # the first that has a value is the ID
    contents: Any  # if it has a value it is the whole text; None if there is no such field
    texts: list[Any]


class _Reader:
    """Reads documents as package text reads JSON: each by its own fields, whatever others have."""

    def __init__(self, fields: Sequence[str], id_field: str | None, quiet: bool = True):
        self._fields, self._id_field = fields, id_field
        self._quiet = quiet
        self._plans: dict[tuple[Any, ...], _Plan] = {}
        self._head: dict[str, None] = {}  # names of fields of the first documents, in order
        self._later: dict[str, None] = {}  # names that only later documents have
        self._had: set[str] = set()  # of the fields asked for
        self._whole: bool | None = None  # whether the first document has contents
        self._ids: set[Any] = set()  # names of fields that are IDs of documents
        self.named: bool | None = None  # whether documents have IDs

    def take(self, chunk: list[Any], at: int) -> tuple[list[str] | None, list[str]]:
        """The IDs, None if documents have none, and the texts of documents from number `at`."""
        if not self.named:
            try:
                "".join(chunk)
                self.named = False
                return None, chunk
            except TypeError:
                pass
        ids, texts = [], []
        for number, d in enumerate(chunk, at):
            label, d, own = self._open(d, number)
            if isinstance(d, str):
                name, text = None, d
            elif isinstance(d, Mapping):
                name, text = self._read(d, number)
            elif _missing(d):
                raise _no_text(number, label, f"it is {d}")
            elif label is not None:
                name, text = None, _text_of(d, number)
            else:
                raise _unknown(d, number)
            ids.append(self._name(name, label, own, number))
            texts.append(text)
        if at == 0 and not self._fields and not self._quiet:
            _describe([n for n in self._head if n not in self._ids], bool(self._whole))
        return (ids if self.named else None), texts  # type: ignore[return-value]

    def record(self, d: Any, number: int) -> dict[str, Any]:
        """The document with all its fields; those without a value are null."""
        label, d, own = self._open(d, number)
        if not isinstance(d, Mapping):
            raise TypeError(
                f"document {number} is of type {type(d).__name__}: with a schema, documents are "
                "mappings, named tuples or rows of a DataFrame"
            )
        inside = self._id(d, self._plan(d, number), number)
        name = self._name(inside, label, own, number)
        record = {str(n): None if _missing(v) else v for n, v in d.items()}
        if name is None:
            name = str(number)
        if name != inside:
            record[self._id_field or "id"] = name
        return record

    def end(self) -> None:
        """Says what is known only after the last document."""
        names = [*self._head, *self._later]
        lacking = [f for f in self._fields if f not in self._had]
        if lacking and names:
            raise ValueError(f"fields={lacking}: no document has this; documents have {names}")
        if self._quiet or self.named is None:
            return
        if not names:
            if self._fields or self._id_field:
                warn("fields= and id_field= have no effect: documents have no fields")
            return
        texts = [n for n in self._later if n.lower() in ("contents", *_TEXT_NAMES)]
        left = [n for n in self._later if n not in texts and n.lower() not in _ID_NAMES]
        says = [f"text is also {', '.join(texts)}"] if texts else []
        says += [f"left out is also {', '.join(left)}"] if left else []
        if says and not self._fields:
            warn(f"after the first {_HEAD} documents {'; '.join(says)} (others: fields=)")

    def _open(self, d: Any, number: int) -> tuple[Any, Any, bool]:
        """The label of a document, None if it has none, the document, and whose ID comes first."""
        label, own = None, False
        if type(d) is _Pair:
            label, d, own = d
            _id(label, number)
        elif isinstance(d, (tuple, list)) and not hasattr(d, "_fields"):
            if len(d) != 2:
                raise TypeError(
                    f"document {number} is a {type(d).__name__} of {len(d)}: want a pair "
                    "(id, text); join words and paragraphs to one str"
                )
            label, d = d
            _id(label, number)
        if type(d) in (str, dict):
            return label, d, own
        if hasattr(d, "_asdict"):  # a named tuple, as of ir_datasets
            d = d._asdict()
        elif is_dataclass(d) and not isinstance(d, type):
            d = vars(d)
        elif hasattr(d, "iloc") and hasattr(d, "to_dict"):  # a row, as of DataFrame.iterrows
            d, own = d.to_dict(), True
        return label, d, own

    def _name(self, inside: str | None, label: Any, own: bool, number: int) -> str | None:
        """The ID of a document. All documents have one, or none has."""
        name = inside
        if label is not None and not (own and inside is not None):
            name = _id(label, number)
        if self.named is None:
            self.named = name is not None
        if self.named and name is None:
            raise ValueError(f"document {number}: has no ID, but documents before it have one")
        if not self.named and name is not None:
            raise ValueError(f"document {number}: has an ID, but documents before it have none")
        return name

    def _plan(self, d: Mapping[Any, Any], number: int) -> _Plan:
        shape = tuple(d)
        plan = self._plans.get(shape)
        if plan is None:
            plan = _plan(shape, self._fields, self._id_field)
            if len(self._plans) < _SHAPES:
                self._plans[shape] = plan
                names = self._head if number < _HEAD else self._later
                names.update((str(n), None) for n in shape if str(n) not in self._head)
        return plan

    def _id(self, d: Mapping[Any, Any], plan: _Plan, number: int) -> str | None:
        for key in plan.ids:
            value = _value(d, key)
            if value is not None and value != "" and not _missing(value):
                self._ids.add(key)
                return _id(value, number)
        if self._id_field:
            raise ValueError(
                f"document {number}: has no ID in id_field={self._id_field!r}: it has {list(d)}"
            )
        return None

    def _read(self, d: Mapping[Any, Any], number: int) -> tuple[str | None, str]:
        """The ID and the text of a document with fields."""
        plan = self._plan(d, number)
        whole = plan.contents is not None and not _missing(d[plan.contents])
        if self._whole is None:
            self._whole = whole
        texts = plan.texts
        if whole:
            texts = [plan.contents]
        if whole != self._whole and not self._fields:
            other = next((t for t in plan.texts if not _missing(d[t]) and d[t] != ""), None)
            if other is not None:
                has = f"contents besides {other}" if whole else f"no contents but {other}"
                raise ValueError(
                    f"document {number}: has {has}, and the first one has "
                    f"{'no contents' if whole else 'contents'}: name all fields that hold text "
                    "(fields=)"
                )
        present, parts = False, []
        for key in texts:
            value = _value(d, key)
            if type(value) is not str:
                if _missing(value):
                    continue
                value = _text_of(value, number, key)
            present = True
            if self._fields:
                self._had.add(key)
            if value:
                parts.append(value)
        if not present:
            self._none_of(d, texts, number)
        return self._id(d, plan, number), "\n".join(parts)

    def _none_of(self, d: Mapping[Any, Any], texts: list[Any], number: int) -> None:
        there = [t for t in texts if t in d]
        if there:
            raise _no_text(number, None, f"{' and '.join(map(str, there))} is {d[there[0]]}")
        if self._fields:
            typed = any(":" in field for field in self._fields)
            raise ValueError(f"document {number}: has none of fields={self._fields}: it has {list(d)}"
                             f"{'; fields with types are schema=' if typed else ''}")  # fmt: skip
        raise ValueError(
            f"document {number}: none of its fields {list(d)} is known to hold text: pass fields="
        )


def _plan(names: Sequence[Any], fields: Sequence[str], id_field: str | None) -> _Plan:
    lower = {str(n).lower(): n for n in names}
    ids = [id_field] if id_field else [lower[n] for n in _ID_NAMES if n in lower]
    if fields:
        return _Plan(ids, None, list(fields))
    return _Plan(ids, lower.get("contents"), [lower[n] for n in _TEXT_NAMES if n in lower])


def _describe(names: Sequence[Any], whole: bool) -> None:
    """Warns of fields that are left out. names has all that are not IDs."""
    wanted = ("contents",) if whole else _TEXT_NAMES
    texts = [str(n) for n in names if str(n).lower() in wanted]
    left = [str(n) for n in names if str(n).lower() not in ("contents", *wanted)]
    if left and texts:
        warn(f"text: {', '.join(texts)}; left out: {', '.join(left)} (others: fields=)")


def _value(d: Mapping[Any, Any], name: Any) -> Any:
    """The value of a field, also of one inside another, as of "paper.title"."""
    if name in d or not isinstance(name, str) or "." not in name:
        return d.get(name)
    for at, sign in enumerate(name):
        if sign == "." and name[:at] in d:
            return _inside(d[name[:at]], name[at + 1 :])
    return None


def _inside(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return _value(value, name)
    if isinstance(value, (list, tuple)):
        found = [v for v in (_inside(part, name) for part in value) if v is not None]
        return found or None
    return None


def _missing(value: Any) -> bool:
    """Whether a value is None or one of the missing ones of pandas and NumPy."""
    if value is None:
        return True
    if isinstance(value, (str, int, list, tuple, dict)):
        return False
    if isinstance(value, (float, np.generic)) or type(value).__name__ == "Decimal":
        return bool(value != value)  # NaN, NaT
    return type(value).__name__ in ("NAType", "NaTType")


def _no_text(number: int, name: Any, why: str) -> ValueError:
    which = f"document {number}" if name is None else f"document {number} (ID {str(name)!r})"
    return ValueError(f'{which}: has no text: {why}; leave it out, or give it the text ""')


def _unknown(d: Any, number: int) -> TypeError:
    kind = type(d).__name__
    hint = ""
    if isinstance(d, os.PathLike):
        hint = "; paths go into a list of their own"
    if isinstance(d, (bytes, bytearray)):
        hint = "; decode bytes first"
    of = "documents are" if number == 0 else f"document {number} is"
    return TypeError(
        f"{of} of type {kind}: want a str, a pair (id, text), a mapping or a named tuple{hint}"
    )


def _text_of(value: Any, number: int, field: Any = None) -> str:
    try:
        return _text(value)
    except TypeError as err:
        what = "its text" if field is None else f"its field {field!r}"
        raise TypeError(f"document {number}: {what} {err}") from None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):  # paragraphs
        parts = value if isinstance(value, (list, tuple)) else np.atleast_1d(value).tolist()
        return "\n".join(filter(None, ("" if _missing(v) else _text(v) for v in parts)))
    return _said(value, "a str or a list of str")


def _said(value: Any, want: str) -> str:
    """A number, a date or the like as a str; not what Python writes of any object."""
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("is bytes: decode it first")
    if isinstance(value, (Number, np.generic, UUID)) or hasattr(value, "isoformat"):
        return str(value)
    raise TypeError(f"is of type {type(value).__name__}: want {want}")


def _plain(value: Any) -> Any:
    """What JSON has no name for: NumPy's numbers, dates."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return _said(value, "a str, a number or a list")


def _id(value: Any, number: int) -> str:
    if isinstance(value, str) and value:
        return value
    if _missing(value) or value == "":
        raise ValueError(f"document {number}: has no ID: it is {value!r}")
    try:
        return _said(value, "a str or a number")
    except TypeError as err:
        raise TypeError(f"document {number}: its ID {err}") from None


def listed(names: str | Iterable[str] | None) -> list[str]:
    """Several names, of which one may be given alone."""
    return [names] if isinstance(names, str) else list(names or ())


class _Table:
    """The columns of a DataFrame of pandas or polars, or of a table of pyarrow."""

    def __init__(self, table: Any, names: Iterable[Any], unique: bool, column: Any):
        self._table, self.names, self._unique, self._column = table, list(names), unique, column

    def labels(self) -> list[Any] | None:
        return _labels(self._table, "DataFrame", self._unique)

    def column(self, name: Any) -> list[Any]:
        at = [i for i, n in enumerate(self.names) if n == name]
        if not at:  # a name that is not a str, as 0
            at = [i for i, n in enumerate(self.names) if str(n) == name]
        if len(at) != 1:
            raise ValueError(f"{len(at) or 'no'} columns are named {name!r}: they are {self.names}")
        return self._column(at[0])

    def rows(self) -> Iterator[dict[Any, Any]]:
        again = [n for i, n in enumerate(self.names) if n in self.names[:i]]
        if again:
            raise ValueError(f"several columns are named {again[0]!r}: they are {self.names}")
        columns = [self._column(i) for i in range(len(self.names))]
        return (dict(zip(self.names, row)) for row in zip(*columns))

    def texts(
        self, fields: Sequence[str], id_field: str | None
    ) -> tuple[list[str] | None, list[str]]:
        """The IDs and the texts of the rows."""
        plan = _plan(self.names, fields, id_field)
        names = plan.texts if plan.contents is None else [plan.contents]
        if not names:
            raise ValueError(
                f"none of the columns {self.names} is known to hold text: pass fields="
            )
        if not fields:
            _describe([n for n in self.names if n not in plan.ids[:1]], plan.contents is not None)
        columns = [self.column(name) for name in names]
        ids = None
        if plan.ids:
            ids = [_id(v, i) for i, v in enumerate(self.column(plan.ids[0]))]
        else:
            labels = self.labels()
            if labels is not None:
                ids = [_id(v, i) for i, v in enumerate(labels)]
        texts = []
        for number, row in enumerate(zip(*columns)):
            if len(row) == 1 and type(row[0]) is str:
                texts.append(row[0])
                continue
            there = [_text_of(v, number) for v in row if not _missing(v)]
            if not there:
                name = None if ids is None else ids[number]
                raise _no_text(number, name, f"{' and '.join(map(str, names))} is {row[0]}")
            texts.append("\n".join(filter(None, there)))
        return ids, texts


def _table(corpus: Any, unique: bool) -> _Table | None:
    kind = type(corpus)
    if hasattr(kind, "columns") and hasattr(kind, "collect"):
        raise TypeError("the corpus is a lazy table: pass its collect()")
    if hasattr(corpus, "columns") and hasattr(corpus, "iloc"):  # pandas
        return _Table(corpus, corpus.columns, unique, lambda i: corpus.iloc[:, i].tolist())
    if hasattr(corpus, "columns") and hasattr(corpus, "to_series"):  # polars
        return _Table(corpus, corpus.columns, unique, lambda i: corpus.to_series(i).to_list())
    if hasattr(corpus, "column_names") and hasattr(corpus, "to_pydict"):  # pyarrow
        return _Table(corpus, corpus.column_names, unique, lambda i: corpus.column(i).to_pylist())
    return None


def _labels(rows: Any, kind: str, unique: bool) -> list[Any] | None:
    """The index of rows, unless it is pandas' plain numbering from 0."""
    index = getattr(rows, "index", None)
    if index is None or not hasattr(index, "tolist") or not hasattr(index, "nlevels"):
        return None
    if index.nlevels > 1:
        raise ValueError(
            f"the index of the {kind} has {index.nlevels} levels, which are not an ID: "
            "reset_index(drop=True) numbers documents"
        )
    numbered = index.name is None and hasattr(index, "step") and index.start == 0
    if numbered and index.step == 1:
        return None
    if unique and not index.is_unique:
        again = index[index.duplicated()].tolist()[0]
        raise ValueError(
            f"the index of the {kind} has the label {again!r} more than once, but labels are the "
            "IDs: reset_index(drop=True) numbers documents"
        )
    return index.tolist()
