"""Search: an index on disk, and the hits of queries."""

from __future__ import annotations

import contextlib
import csv
import operator
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _questions as asked_of
from ._asked import asks
from ._documents import Corpus, Documents, as_file, listed, paths_of
from ._names import renamed
from ._pipe import Arrays, dumps, strings, unpack_strings
from ._progress import ProgressOption, bar
from ._worker import Worker, call, worker
from .errors import CollocateError, warn
from .hits import BatchHits, Concordance, Explanation, Hit, Hits, Snippet
from .weights import Weights, load_npz, weighted

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Arguments that say how files are read, and documents split into words.
READING = {*asked_of.Files.__annotations__, *asked_of.Splitting.__annotations__}
# Rules of synonyms: one, several, or a file of them.
Synonyms = str | os.PathLike[str] | Sequence[str] | None

# Largest number of hits in one message: 64 MB.
_HITS = 1 << 23
# Number of hits that search_all asks for at a time.
_PAGE = 1 << 14
_NOT_OF_ALL = {"k", "from_", "count", "facet", "collapse", "threads", "progress"}


class Index:
    """An index of documents. Make one with `Index.build` or `Index.open`.

    An index is a folder, or lies in a bucket at an address such as "s3://bucket/name", where any
    number of processes change it at once. Several threads may use it at the same time. It also
    works after a fork and in other processes: it is pickled as its path.
    """

    def __init__(
        self, path: str | os.PathLike[str], generation: int = 0, *, _temporary: bool = False
    ):
        """Opens the index in a folder, or at an address such as "s3://bucket/name".

        generation: of an index in a bucket: what it was after this commit, for up to an hour. It
            cannot be changed. 0 means the newest.
        """
        if isinstance(path, str) and path.startswith(("http://", "https://")):
            raise ValueError(
                f"{path} is a server, not a folder with an index: use collocate.connect({path!r})"
            )
        self.path: str = _place(path)
        self._older = generation
        self._lock = threading.Lock()
        self._opened: tuple[Worker, int] | None = None
        self._closed = False
        self._generation = 0
        self._stats: dict[str, Any] = {}
        self._fields: tuple[list[str], list[str]] = ([], [])
        self._asked: tuple[int, dict[str, Any], bytes] = (-1, {}, b"")
        self._remove = (
            weakref.finalize(self, _remove_folder, self.path, os.getpid()) if _temporary else None
        )
        self._handle()

    @classmethod
    def open(cls, path: str | os.PathLike[str], generation: int = 0) -> Index:
        """Opens the index in a folder, or at an address such as "s3://bucket/name".

        generation: of an index in a bucket: what it was after this commit, for up to an hour. It
            cannot be changed. 0 means the newest.
        """
        return cls(path, generation)

    @classmethod
    @asks(asked_of.Build)
    def build(
        cls,
        corpus: Corpus,
        path: str | os.PathLike[str] | None = None,
        *,
        schema: Sequence[str] | Mapping[str, str] | None = None,
        progress: ProgressOption = None,
        **asked: Unpack[asked_of.Build],
    ) -> Index:
        """Indexes documents in the folder `path`, or in one that is removed with the index.

        path: may be an address such as "s3://bucket/name", where no index may be yet.

        corpus: a file or folder (a str or a Path), a DataFrame, a Series, or any iterable of texts,
            of pairs (id, text), of mappings, or of ir_datasets' documents; or a mapping
            {id: document}. Documents without IDs are numbered from 0. None and NaN where a
            document's text should be are an error that names the document.
        schema: fields with types instead of `fields`, as `collocate index --fields` has them:
            "title:text,year:number", a list of such fields, or {"title": "text"}. They can be
            searched (syntax=True, filter=), and shown (`Hits.fields`).
        progress: True shows a bar; a function is called with (stage, done, total).
        """
        temporary = path is None
        out = tempfile.mkdtemp(prefix="collocate-") if path is None else os.fsdecode(path)
        args: dict[str, Any] = {"out": _place(out), **asked}
        if schema and args.get("fields"):
            raise ValueError("fields= and schema= exclude each other: a schema names all fields")
        if schema:
            if isinstance(schema, Mapping):
                schema = [f"{name}:{kind}" for name, kind in schema.items()]
            elif isinstance(schema, str):  # as on the command line
                schema = next(csv.reader([schema]))
            args["schema"] = list(schema)
        try:
            with bar(progress, "building") as tell, rows_in_file(args):
                build_call("build", args, corpus, tell, whole=bool(schema))
        except BaseException:
            if temporary:
                shutil.rmtree(out, ignore_errors=True)
            raise
        return cls(out, _temporary=temporary)

    @asks(asked_of.Add)
    def add(
        self, corpus: Corpus, *, progress: ProgressOption = None, **asked: Unpack[asked_of.Add]
    ) -> tuple[int, int]:
        """Adds documents, which need IDs. A document replaces the one with the same ID.

        Returns how many were added, and how many documents they replaced.
        """
        self._newest()
        whole = bool(self.fields or self.stored_fields)
        if whole and asked.get("fields"):
            raise ValueError("fields=: the index has a schema, which names all fields")
        args = {"path": self.path, "analyzer": self.stats["analyzer"], **asked}
        with bar(progress, "adding") as tell, rows_in_file(args):
            a = build_call("add", args, corpus, tell, whole=whole)
        self.refresh()
        return a.result["added"], a.result["replaced"]

    def delete(self, ids: str | Iterable[str] | None = None, *, query: str | None = None) -> int:
        """Deletes the documents with these IDs, or all that match a query.

        query: as `collocate search` has it; of several words any may match, "*" matches all.
        Returns how many were deleted.
        """
        self._newest()
        names = [] if ids is None else _ids(ids)
        if query is None and not names:
            return 0
        if query is not None and (names or not query.strip()):
            raise ValueError('query= has words, or is "*" for all documents, and excludes IDs')
        self._handle()
        args = {"path": self.path} if query is None else {"path": self.path, "q": query}
        a = call("delete", args, strings(names, "ids", "ends"))
        self.refresh()
        return int(a.result["deleted"])

    def merge(self) -> int:
        """Merges segments where there are many of about the same size, and returns how many."""
        self._newest()
        a = call("merge", {"path": self.path})
        self.refresh()
        return int(a.result["merged"])

    def compact(self, out: str | os.PathLike[str] | None = None) -> int:
        """Makes one segment of the index, without deleted documents.

        out: a folder for an index without segments; this index then stays as it is.
        Returns how many segments were merged.
        """
        self._newest()
        args = {"path": self.path} if out is None else {"path": self.path, "out": _folder(out)}
        a = call("compact", args)
        self.refresh()
        return int(a.result["merged"])

    def export(self, path: str | os.PathLike[str], field: str = "", *, memory: int = 0) -> None:
        """Writes the index to a file, without deleted documents.

        path: its name ends with .npz for a matrix that `load_npz` and scipy.sparse.load_npz read,
            or with .ciff, .ciff.gz or .ciff.zst for the Common Index File Format.
        field: the words or weighted tokens of this field; only for .npz.
        """
        out = os.path.abspath(os.fsdecode(path))
        asked = {"out": out, "field": field, "memory": memory}
        call("export", {"path": self.path, "generation": self._older, **asked})

    def weights(self, field: str = "") -> Weights:
        """How often each document has each word, or the weights of tokens, as a SciPy matrix.

        field: the words or weighted tokens of this field.
        """
        with tempfile.TemporaryDirectory(prefix="collocate-") as folder:
            path = os.path.join(folder, "weights.npz")
            self.export(path, field)
            return load_npz(path)

    def refresh(self) -> None:
        """Opens the current state of the index, if other processes have changed it."""
        with self._lock:
            opened, self._opened = self._opened, None
            self._generation += 1
        if opened is not None and opened[0].alive():
            call("close", {"index": opened[1]}, on=opened[0])
        self._handle()

    def _newest(self) -> None:
        """Older generations cannot be changed."""
        if self._older:
            raise ValueError("generation=: only the newest generation can be changed")

    def _check(self, generation: int) -> None:
        """Documents of older hits may have other numbers by now."""
        if generation != self._generation:
            raise ValueError("the index has changed since these hits were found: search again")

    # State of this index in the worker.

    def _handle(self) -> tuple[Worker, int]:
        """The worker and the index's number there, opened again after a fork or a restart."""
        w = worker()
        opened = self._opened
        if opened is not None and opened[0] is w:
            return opened
        with self._lock:
            if self._closed:
                raise ValueError("the index is closed")
            if self._opened is None or self._opened[0] is not w:
                asked = {"path": self.path, "generation": self._older}
                answer = call("open", asked, on=w)
                self._opened = (w, answer.result["index"])
                self._stats = answer.result["stats"]
                self._fields = (answer.result["fields"] or [], answer.result["stored"] or [])
            return self._opened

    def _call(
        self, do: str, args: dict[str, Any], arrays: Arrays | None = None, progress: Any = None
    ) -> Any:
        w, number = self._handle()
        return call(do, {"index": number, **args}, arrays, on=w, progress=progress)

    def _ask(self, do: str, args: dict[str, Any], progress: Any = None) -> Any:
        """Asks the stored text. What says how to read a corpus is refused."""
        for name, given in args.items():
            if given and name in READING:
                raise ValueError(f"{name}=: not with an Index, which has its words already")
        asked = {name: value for name, value in args.items() if name not in READING}
        return self._call(do, asked, progress=progress)

    def close(self) -> None:
        """Closes the index, and removes it if its folder is temporary."""
        with self._lock:
            opened, self._opened, self._closed = self._opened, None, True
        if opened is not None and opened[0].alive():
            call("close", {"index": opened[1]}, on=opened[0])
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return (Index, (self.path, self._older))

    def __len__(self) -> int:
        """The number of documents, without deleted ones."""
        s = self.stats
        return int(s["documents"]) - int(s.get("deleted", 0))

    def __contains__(self, id: object) -> bool:
        """Whether a document has this ID."""
        return bool(self.find([str(id)])[0] >= 0)

    def __repr__(self) -> str:
        if self._closed:
            return f"<Index {self.path!r}: closed>"
        s = self.stats
        return (
            f"<Index {self.path!r}: {len(self):,} documents, {s['terms']:,} words, {s['analyzer']}>"
        )

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics: documents, terms, postings, tokens, mean_length, bytes and others.

        They include deleted documents, whose number is `deleted`, until segments are merged.
        """
        self._handle()
        return self._stats

    @property
    def fields(self) -> list[str]:
        """The fields that a query can name, if the index has a schema."""
        self._handle()
        return self._fields[0]

    @property
    def stored_fields(self) -> list[str]:
        """The fields that are stored, which `Hits.fields` returns."""
        self._handle()
        return self._fields[1]

    def analyze(
        self, text: str, *, field: str = "", analyzer: str = "", side: str = "document"
    ) -> list[dict[str, Any]]:
        """The words that the analyzer of the index makes of a text, after each of its steps.

        field: a text field, whose analyzer is used instead.
        analyzer: another analyzer, or a chain to try: "code | parts | lower".
        side: "document" or "query", which some steps treat otherwise.
        Each word has its step, word, position (by which phrases match), start and end (in bytes).
        """
        args = {"text": text, "field": field, "analyzer": analyzer, "side": side}
        return self._call("analyze", args).rows("tokens")

    # Searching.

    # fmt: off
    @overload  # a str is also an Iterable[str], but means one query
    def search(  # type: ignore[overload-overlap]
        self, queries: str, k: int = ..., *, syntax: bool = ...,
        field_weights: str | Mapping[str, float] | None = ..., synonyms: Synonyms = ...,
        threads: int = ..., progress: ProgressOption = ..., **asked: Unpack[asked_of.Search],
    ) -> Hits: ...
    @overload
    def search(
        self, queries: Iterable[str] | Mapping[Any, str], k: int = ..., *, syntax: bool = ...,
        field_weights: str | Mapping[str, float] | None = ..., synonyms: Synonyms = ...,
        threads: int = ..., progress: ProgressOption = ..., **asked: Unpack[asked_of.Search],
    ) -> BatchHits: ...
    # fmt: on

    @asks(asked_of.Search)
    def search(
        self,
        queries: str | Iterable[str] | Mapping[Any, str],
        k: int = 10,
        *,
        syntax: bool = False,
        field_weights: str | Mapping[str, float] | None = None,
        synonyms: Synonyms = None,
        threads: int = 0,
        progress: ProgressOption = None,
        **asked: Unpack[asked_of.Search],
    ) -> Hits | BatchHits:
        """Finds the k best documents for a query, or for each of many queries.

        What of a query may not mean what was intended, or why it found nothing, is in `notes` of
        the result. With syntax or a filter it is also a CollocateWarning. `Hits.total` has the
        number of documents (count), `Hits.facets` the values of fields (facet), and
        `Hits.expanded` the words that were added (expand).

        queries: a str, an iterable of str, or a mapping {query ID: str} or a Series, whose IDs
            `to_run` and `to_pandas` then name.
        k: number of documents; 0 finds none, but counts them in `Hits.total`. `search_all` finds
            all of them.
        syntax: queries are in the query language, +must -not "a phrase" wild* fuzzy~, instead of
            plain text. Phrases need an index with positions.
        field_weights: for bm25f: {"title": 3, "body": 1}, or "title=3,body=1".
        synonyms: of the query's words, instead of those of the index: rules such as "car, auto" and
            "colour => color", one or a list of them, or the Path of a file; "none" for none.
        threads: number of cores for many queries; 0 means all.
        """
        if isinstance(field_weights, Mapping):
            field_weights = ",".join(f"{name}={weight}" for name, weight in field_weights.items())
        args: dict[str, Any] = {"k": _whole(k, "k"), **asked}
        if synonyms is not None:
            args["synonyms"] = _rules(synonyms)
        if (vector := args.get("vector")) is not None:
            args["vector"] = np.asarray(vector, dtype=np.float64).ravel().tolist()
        if (sparse := args.get("sparse")) is not None and not isinstance(sparse, str):
            (args["sparse"],) = weighted([sparse])
        for name, value in (
            ("field_weights", field_weights), ("syntax", syntax), ("threads", threads),
        ):  # fmt: skip
            if value:
                args[name] = value
        if isinstance(queries, str):
            hits = self._page(queries, args)
            # Without hits for plain words it is no surprise that documents lack them.
            for note in hits.notes if syntax or args.get("filter") else ():
                warn(note)
            return hits
        texts, query_ids = _queries(queries)
        width = max(1, min(k, len(self)))
        step = max(1, min(1 << 17, _HITS // width))
        offsets, docs, scores = [np.zeros(1, dtype=np.int64)], [], []
        seconds = 0.0
        notes: dict[str, None] = {}
        with bar(progress, "searching", "queries") as tell:
            for at in range(0, len(texts), step):
                part = texts[at : at + step]
                answer = self._call("search", args, strings(part, "texts", "ends"))
                arrays = answer.arrays
                seconds += answer.result["seconds"]
                notes.update(dict.fromkeys(answer.notes))
                offsets.append(arrays["offsets"][1:] + offsets[-1][-1])
                docs.append(arrays["docs"])
                scores.append(arrays["scores"])
                if tell is not None:
                    tell("searching", min(at + step, len(texts)), len(texts))
        batch = BatchHits(
            self, texts, args, np.concatenate(offsets),
            _joined(docs, np.uint32), _joined(scores, np.float32), query_ids,
        )  # fmt: skip
        batch.seconds = seconds
        batch.notes = list(notes)
        return batch

    def search_all(self, query: str, **options: Any) -> Iterator[Hit]:
        """All documents that match a query, best first, one by one: there may be millions.

        options are those of `search`, without k, from_, count, facet and collapse. The documents
        come from the worker in pages. If the index changes meanwhile, the next page is a ValueError.
        """
        if wrong := _NOT_OF_ALL & options.keys():
            raise TypeError(f"search_all has no {', '.join(sorted(wrong))}: it finds all documents")
        page = self.search(query, _PAGE, **options)
        while True:
            yield from page
            if page._next is None:
                return
            page = self._page(query, {**page._args, "after": page._next})

    def _page(self, query: str, args: dict[str, Any]) -> Hits:
        """Answers one query."""
        answer = self._one(query, args)
        found, told = answer.arrays, answer.result
        hits = Hits(self, query, args, found["docs"], found["scores"], told.get("ids"))
        hits.seconds, hits.notes, hits._next = told["seconds"], answer.notes, told.get("next")
        hits.total, hits.facets = told.get("total"), told.get("facets") or []
        hits.expanded = {w["word"]: w["weight"] for w in told.get("expanded") or []}
        return hits

    def _rescore(
        self, queries: list[str], docs: np.ndarray, ends: np.ndarray, **options: Any
    ) -> np.ndarray:
        """The scores of given documents, those of query i before ends[i]; 0 if they do not match.

        options are those of `search`.
        """
        scores = np.zeros(len(docs), dtype=np.float32)
        starts = np.concatenate([[0], ends[:-1]])
        width = int((ends - starts).max(initial=0))
        step = max(1, _HITS // max(1, width))
        for at in range(0, len(queries) if width else 0, step):
            part = slice(at, min(at + step, len(queries)))
            first, last = starts[at], ends[part][-1]
            some = docs[first:last]
            arrays = {**strings(queries[part], "texts", "ends"),
                      "within": some, "within_ends": ends[part] - first}  # fmt: skip
            args = {"k": width, **{n: v for n, v in options.items() if v is not None}}
            found = self._call("search", args, arrays).arrays
            # Sort pairs of a query and a document, to look them up.
            number = np.arange(part.stop - part.start, dtype=np.int64) << 32
            hits = np.repeat(number, np.diff(found["offsets"])) | found["docs"]
            order = np.argsort(hits, kind="stable")
            hits, values = hits[order], found["scores"][order]
            asked = np.repeat(number, ends[part] - starts[part]) | some
            place = np.minimum(np.searchsorted(hits, asked), max(0, len(hits) - 1))
            if len(hits):
                scores[first:last] = np.where(hits[place] == asked, values[place], 0)
        return scores

    def _one(self, query: str, args: dict[str, Any]) -> Any:
        """Asks one query. What stays the same from one query to the next is written once."""
        query.encode()  # raises an error for half a surrogate pair
        w, number = self._handle()
        if self._asked[:2] != (number, args):
            rest = dumps({"index": number, **args})[1:]
            self._asked = (number, args, f",{rest}}}".encode())
        start = b'{"do":"search","with":{"query":'
        return call(start + dumps(query).encode() + self._asked[2], on=w, quiet=True)

    def ids(self, docs: Any) -> np.ndarray:
        """The IDs of documents, given by number, as an array of str."""
        numbers = docs.docs if isinstance(docs, Hits) else np.asarray(docs)
        flat = _documents(numbers.ravel())
        # Hits of different queries share documents: request each document once.
        unique, inverse = np.unique(flat, return_inverse=True)
        names = np.empty(len(unique), dtype=object)
        names[:] = self._strings("ids", unique)
        return names[inverse].reshape(numbers.shape)

    def texts(self, docs: Any) -> list[str]:
        """The stored texts of documents, given by number or ID."""
        return self._strings("texts", self._numbers(docs))

    def stored(self, docs: Any, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The stored fields of documents, all or those named, without fields that are empty."""
        args = {"names": listed(names)} if names else {}
        found = self._call("stored", args, {"docs": self._numbers(docs)}).result
        return found or []

    @renamed(k="top")
    @asks(asked_of.Concordance)
    def concordance(
        self, query: str, top: int = 50, **asked: Unpack[asked_of.Concordance]
    ) -> Concordance:
        """Words in context, from the stored text: see `collocate.concordance`."""
        return Concordance(self._ask("concordance", {"q": query, "top": top, **asked}))

    def _strings(self, do: str, docs: np.ndarray) -> list[str]:
        if not len(docs):
            return []
        step = 1 << 16
        out: list[str] = []
        for at in range(0, len(docs), step):
            arrays = self._call(do, {}, {"docs": docs[at : at + step]}).arrays
            out += unpack_strings(arrays["strings"], arrays["ends"])
        return out

    def find(self, ids: Iterable[str]) -> np.ndarray:
        """The numbers of documents with these IDs; -1 where there is none."""
        names = _ids(ids)
        if not names:
            return np.zeros(0, dtype=np.int64)
        found: np.ndarray = self._call("find", {}, strings(names, "ids", "ends")).arrays["docs"]
        return found

    def snippets(self, query: str, docs: Any, size: int = 200, **options: Any) -> list[Snippet]:
        """Text around the words of a query. The index must have been built with store_text=True."""
        args = {"query": query, "size": size, **_about(options)}
        found = self._call("snippets", args, {"docs": self._numbers(docs)}).result or []
        return [Snippet(**s) for s in found]

    def explain(self, query: str, docs: Any, **options: Any) -> list[Explanation]:
        """Explains the scores of documents, word by word."""
        args = {"query": query, **_about(options)}
        found = self._call("explain", args, {"docs": self._numbers(docs)}).result or []
        return [Explanation(**e) for e in found]

    def _numbers(self, docs: Any) -> np.ndarray:
        """Document numbers, of which IDs may be given."""
        if isinstance(docs, Hits):
            return docs.docs
        if isinstance(docs, (bytes, bytearray)) or not hasattr(docs, "__iter__"):
            docs = np.asarray(docs)  # one number, or what _documents refuses
        if isinstance(docs, str):
            docs = [docs]
        docs = docs.ravel().tolist() if isinstance(docs, np.ndarray) else list(docs)
        if docs and isinstance(docs[0], str):
            numbers = self.find(docs)
            if (numbers < 0).any():
                missing = docs[int(np.argmax(numbers < 0))]
                raise KeyError(f"no document has the ID {missing!r}")
            return numbers.astype(np.uint32)
        return _documents(np.asarray(docs))


def build_call(
    do: str, args: dict[str, Any], corpus: Corpus, tell: Any, passes: int = 1, whole: bool = False
) -> Any:
    """A call about a corpus: paths go as they are, documents follow the call.

    whole keeps all fields of documents, for a schema, by way of a file.
    """
    paths = paths_of(corpus)
    if paths is not None:
        return call(do, {**args, "paths": paths}, progress=tell)
    rest = only_for_files(args)
    fields, id_field = args.get("fields"), args.get("id_field")
    assert not isinstance(corpus, (str, os.PathLike))
    unique = do in ("build", "add") and not args.get("allow_duplicate_ids")
    if whole or _have_weights(corpus, args):
        with as_file(
            corpus, None, id_field, whole=True, need_ids=do == "add", unique=unique
        ) as path:
            given: dict[str, Any] = {"paths": [path], "format": "jsonl", "encoding": "utf-8"}
            if id_field:
                given["id_field"] = id_field
            if fields and not whole:
                given["fields"] = [fields] if isinstance(fields, str) else list(fields)
            return call(do, {**rest, **given}, progress=tell, file=path or "")
    documents = Documents(corpus, fields, id_field, unique)
    if passes > 1:
        documents.again()
    return call(do, rest, passes=(documents.groups() for _ in range(passes)), progress=tell)


def _have_weights(corpus: Any, args: dict[str, Any]) -> bool:
    """Whether documents are mappings, or rows, that may have weighted tokens in a field."""
    if not str(args.get("analyzer", "")).startswith("impact"):
        return False
    if isinstance(corpus, (list, tuple)):
        return bool(corpus) and isinstance(corpus[0], Mapping)
    return hasattr(corpus, "columns")


@contextlib.contextmanager
def rows_in_file(args: dict[str, Any]) -> Iterator[None]:
    """Has vectors that are an array in a file, while it is needed."""
    rows = args.get("vectors")
    if rows is None or isinstance(rows, (str, os.PathLike)):
        yield
        return
    handle, name = tempfile.mkstemp(prefix="collocate-", suffix=".npy")
    try:
        with open(handle, "wb") as out:
            np.save(out, np.ascontiguousarray(rows))
        args["vectors"] = name
        yield
    except CollocateError as err:
        raise type(err)(str(err).replace(name, "vectors")) from None
    finally:
        os.unlink(name)


def only_for_files(args: dict[str, Any]) -> dict[str, Any]:
    """Refuses options that say how files are read, where the corpus is documents.

    Returns those for the worker, which need not know how documents were read here.
    """
    for name in ("format", "encoding"):
        if value := args.get(name):
            raise ValueError(f"{name}={value!r} is for files, but the corpus is documents")
    of_files = asked_of.Files.__annotations__.keys() - {"skip_bad"}
    return {n: v for n, v in args.items() if n not in of_files}


def _folder(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fsdecode(path))


def _place(path: str | os.PathLike[str]) -> str:
    """A folder, or an address in a bucket as it is."""
    name = os.fsdecode(path)
    return name if name.startswith(("s3://", "file://")) else os.path.abspath(name)


def _rules(synonyms: str | os.PathLike[str] | Sequence[str]) -> str:
    """Rules of synonyms as the worker takes them."""
    if isinstance(synonyms, os.PathLike):
        with open(synonyms, encoding="utf-8") as f:
            return f.read()
    return synonyms if isinstance(synonyms, str) else "\n".join(synonyms)


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: want a whole number") from None


def _documents(numbers: np.ndarray) -> np.ndarray:
    """Numbers of documents as the worker takes them, without changing any."""
    if not numbers.size:
        return np.zeros(0, dtype=np.uint32)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"documents are of type {numbers.dtype}: want their numbers or IDs")
    outside = (numbers < 0) | (numbers > 0xFFFFFFFF)
    if outside.any():
        raise ValueError(f"document {numbers[outside][0]} does not exist")
    return np.ascontiguousarray(numbers, dtype=np.uint32)


def _ids(given: Any) -> list[str]:
    """IDs, of which one may be given alone; numbers where documents have such IDs."""
    if isinstance(given, (str, int, np.integer)):
        given = [given]
    if isinstance(given, (bytes, bytearray)):
        raise TypeError("the ID is bytes: decode it first")
    if not hasattr(given, "__iter__"):
        raise TypeError(f"IDs are of type {type(given).__name__}: want a str or an iterable of str")
    names = []
    for i, v in enumerate(given):
        if not isinstance(v, (str, int, float, np.generic)):
            raise TypeError(f"ID {i} is of type {type(v).__name__}: want a str")
        names.append(str(v))
    return names


def _queries(given: Any) -> tuple[list[str], list[Any] | None]:
    """The texts of many queries, and their IDs if they have some."""
    if isinstance(given, (bytes, bytearray)):
        raise TypeError("the query is bytes: decode it first")
    if hasattr(given, "columns"):
        raise TypeError(
            "queries are a table: pass {query ID: text}, as in dict(zip(table.qid, table.query))"
        )
    ids = list(given) if isinstance(given, Mapping) else None
    if hasattr(given, "iloc"):  # the index of a Series has the IDs
        ids = given.index.tolist()
    texts = list(given.values()) if isinstance(given, Mapping) else given
    try:
        texts = texts if isinstance(texts, list) else list(texts)
        "".join(texts)
    except TypeError:
        if not isinstance(texts, list):
            kind = type(given).__name__
            raise TypeError(
                f"queries are of type {kind}: want a str or an iterable of str"
            ) from None
        at, bad = next((i, q) for i, q in enumerate(texts) if not isinstance(q, str))
        raise TypeError(f"query {at} is of type {type(bad).__name__}: want a str") from None
    return texts, ids


def _about(options: dict[str, Any]) -> dict[str, Any]:
    of_answer = ("k", "from", "count", "facet", "sort", "threads")
    return {n: v for n, v in options.items() if v is not None and n not in of_answer}


def _joined(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def _remove_folder(path: str, pid: int) -> None:
    if os.getpid() == pid:  # not in a forked child
        shutil.rmtree(path, ignore_errors=True)
