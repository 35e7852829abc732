"""Search: an index on disk, and the hits of queries."""

from __future__ import annotations

import operator
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from ._documents import Corpus, Documents, as_file, listed, paths_of
from ._names import renamed
from ._pipe import Arrays, dumps, strings, unpack_strings
from ._progress import ProgressOption, bar
from ._worker import Worker, call, worker
from .errors import warn
from .hits import BatchHits, Concordance, Explanation, Hit, Hits, Snippet

# Rules of synonyms: one, several, or a file of them.
Synonyms = str | os.PathLike[str] | Sequence[str] | None

# Largest number of hits in one message: 64 MB.
_HITS = 1 << 23
# Number of hits that search_all asks for at a time.
_PAGE = 1 << 14


class Index:
    """An index of documents. Make one with `Index.build` or `Index.open`.

    An index is a folder. Several threads may use it at the same time. It also works after a fork
    and in other processes: it is pickled as its path.
    """

    def __init__(self, path: str | os.PathLike[str], *, _temporary: bool = False):
        if isinstance(path, str) and path.startswith(("http://", "https://")):
            raise ValueError(
                f"{path} is a server, not a folder with an index: use collocate.connect({path!r})"
            )
        self.path: str = os.path.abspath(os.fsdecode(path))
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
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Opens the index in a folder."""
        return cls(path)

    @classmethod
    def build(
        cls,
        corpus: Corpus,
        path: str | os.PathLike[str] | None = None,
        *,
        analyzer: str = "unicode",
        stopwords: str = "",
        synonyms: str | os.PathLike[str] = "",
        store_text: bool = False,
        positions: bool = False,
        reorder: bool = False,
        fields: Sequence[str] | None = None,
        schema: Sequence[str] | Mapping[str, str] | None = None,
        id_field: str | None = None,
        id_root: str | os.PathLike[str] | None = None,
        format: str | None = None,
        encoding: str | None = None,
        skip_bad: bool = False,
        allow_duplicate_ids: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: ProgressOption = None,
    ) -> Index:
        """Indexes documents in the folder `path`, or in one that is removed with the index.

        corpus: a file or folder (a str or a Path), a DataFrame, a Series, or any iterable of texts,
            of pairs (id, text), of mappings, or of ir_datasets' documents; or a mapping
            {id: document}. Documents without IDs are numbered from 0. None and NaN where a
            document's text should be are an error that names the document.
        analyzer: how text is split into words: whitespace, ascii, unicode, lucene-english, or a
            stemmed language: arabic, danish, dutch, english, finnish, french, german, hungarian,
            irish, italian, norwegian, porter, portuguese, romanian, russian, spanish, swedish,
            tamil or turkish. "+stop" after a language drops its stop words: "english+stop".
            A chain of steps is an analyzer, too: "words | lower | fold | stem(english)".
        stopwords: a file with words to drop, one per line, instead of the analyzer's own.
        synonyms: a file of synonyms, which searches find: lines such as "car, auto, motor car" and
            "colour => color".
        store_text: store the text, for snippets and concordances.
        positions: store the positions of words, for phrases: search(..., syntax=True).
        schema: fields with types instead of `fields`, as `collocate index --fields` has them:
            ["title:text", "year:number", "tags:keyword"], or {"title": "text"}. They can be
            searched (syntax=True, filter=), and shown (`Hits.fields`).
        fields, id_field: the fields of documents that hold their text, and their ID.
        format, encoding: of files, if they should not be detected: "jsonl", "latin1".
        skip_bad: skip files that cannot be read, with a warning, instead of raising an error.
        reorder: number similar documents close together, which makes the index smaller.
        id_root: the folder to which the IDs of files are relative, which the index remembers; by
            default the folder that is named, or the deepest that holds all files.
        allow_duplicate_ids: index documents with the same ID instead of raising an error.
        threads: number of cores; 0 means all.
        memory: bound on working memory in bytes; 0 means 2 GB.
        progress: True shows a bar; a function is called with (stage, done, total).
        """
        temporary = path is None
        out = tempfile.mkdtemp(prefix="collocate-") if path is None else os.fsdecode(path)
        args: dict[str, Any] = {
            "out": os.path.abspath(out),
            "analyzer": analyzer,
            "stopwords": os.fspath(stopwords),
            "synonyms": os.fspath(synonyms),
            "skip_bad": skip_bad,
            "store_text": store_text,
            "positions": positions,
            "reorder": reorder,
            "allow_duplicate_ids": allow_duplicate_ids,
            "threads": threads,
            "memory": memory,
        }
        if schema and fields:
            raise ValueError("fields= and schema= exclude each other: a schema names all fields")
        if schema:
            if isinstance(schema, Mapping):
                schema = [f"{name}:{kind}" for name, kind in schema.items()]
            args["schema"] = listed(schema)
        if id_root is not None:
            args["id_root"] = os.fspath(id_root)
        try:
            with bar(progress, "building") as tell:
                build_call(
                    "build", args, corpus, fields, id_field, format, encoding, tell,
                    whole=bool(schema),
                )  # fmt: skip
        except BaseException:
            if temporary:
                shutil.rmtree(out, ignore_errors=True)
            raise
        return cls(out, _temporary=temporary)

    def add(
        self,
        corpus: Corpus,
        *,
        fields: Sequence[str] | None = None,
        id_field: str | None = None,
        id_root: str | os.PathLike[str] | None = None,
        format: str | None = None,
        encoding: str | None = None,
        skip_bad: bool = False,
        threads: int = 0,
        memory: int = 0,
        progress: ProgressOption = None,
    ) -> tuple[int, int]:
        """Adds documents, which need IDs. A document replaces the one with the same ID.

        id_root: the folder to which the IDs of files are relative; by default the one that the
            index remembers, which is that of the files it was built from.

        Returns how many were added, and how many documents they replaced.
        """
        if fields and (self.fields or self.stored_fields):
            raise ValueError("fields=: the index has a schema, which names all fields")
        args = {"path": self.path, "analyzer": self.stats["analyzer"], "skip_bad": skip_bad,
                "threads": threads, "memory": memory}  # fmt: skip
        if id_root is not None:
            args["id_root"] = os.fspath(id_root)
        with bar(progress, "adding") as tell:
            a = build_call(
                "add", args, corpus, fields, id_field, format, encoding, tell,
                whole=bool(self.fields or self.stored_fields),
            )  # fmt: skip
        self.refresh()
        return a.result["added"], a.result["replaced"]

    def delete(self, ids: str | Iterable[str] | None = None, *, query: str | None = None) -> int:
        """Deletes the documents with these IDs, or all that match a query.

        query: as `collocate search` has it; of several words any may match, "*" matches all.
        Returns how many were deleted.
        """
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
        a = call("merge", {"path": self.path})
        self.refresh()
        return int(a.result["merged"])

    def compact(self, out: str | os.PathLike[str] | None = None) -> int:
        """Makes one segment of the index, without deleted documents.

        out: a folder for an index without segments; this index then stays as it is.
        Returns how many segments were merged.
        """
        args = {"path": self.path} if out is None else {"path": self.path, "out": _folder(out)}
        a = call("compact", args)
        self.refresh()
        return int(a.result["merged"])

    def refresh(self) -> None:
        """Opens the current state of the index, if other processes have changed it."""
        with self._lock:
            opened, self._opened = self._opened, None
            self._generation += 1
        if opened is not None and opened[0].alive():
            call("close", {"index": opened[1]}, on=opened[0])
        self._handle()

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
                answer = call("open", {"path": self.path}, on=w)
                self._opened = (w, answer.result["index"])
                self._stats = answer.result["stats"]
                self._fields = (answer.result["fields"] or [], answer.result["stored"] or [])
            return self._opened

    def _call(
        self, do: str, args: dict[str, Any], arrays: Arrays | None = None, progress: Any = None
    ) -> Any:
        w, number = self._handle()
        return call(do, {"index": number, **args}, arrays, on=w, progress=progress)

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
        return (Index, (self.path,))

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
            f"<Index {self.path!r}: {len(self):,} documents, {s['terms']:,} words, "
            f"{s['analyzer']}>"
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
        self, queries: str, k: int = ..., *,
        mode: str = ..., model: str | None = ..., k1: float | None = ..., b: float | None = ...,
        variant: str | None = ..., k3: float | None = ..., mu: float | None = ...,
        field_weights: str | Mapping[str, float] | None = ..., expand: str | None = ...,
        proximity: str | None = ..., syntax: bool = ..., filter: str | None = ...,
        from_: int = ..., count: bool = ..., facet: str | Sequence[str] | None = ...,
        sort: str | None = ..., boost: str | None = ..., synonyms: Synonyms = ...,
        algorithm: str = ...,
        threads: int = ..., progress: ProgressOption = ...,
    ) -> Hits: ...
    @overload
    def search(
        self, queries: Iterable[str] | Mapping[Any, str], k: int = ..., *,
        mode: str = ..., model: str | None = ..., k1: float | None = ..., b: float | None = ...,
        variant: str | None = ..., k3: float | None = ..., mu: float | None = ...,
        field_weights: str | Mapping[str, float] | None = ..., expand: str | None = ...,
        proximity: str | None = ..., syntax: bool = ..., filter: str | None = ...,
        from_: int = ..., count: bool = ..., facet: str | Sequence[str] | None = ...,
        sort: str | None = ..., boost: str | None = ..., synonyms: Synonyms = ...,
        algorithm: str = ...,
        threads: int = ..., progress: ProgressOption = ...,
    ) -> BatchHits: ...
    # fmt: on

    def search(
        self,
        queries: str | Iterable[str] | Mapping[Any, str],
        k: int = 10,
        *,
        mode: str = "or",
        model: str | None = None,
        k1: float | None = None,
        b: float | None = None,
        variant: str | None = None,
        k3: float | None = None,
        mu: float | None = None,
        field_weights: str | Mapping[str, float] | None = None,
        expand: str | None = None,
        proximity: str | None = None,
        syntax: bool = False,
        filter: str | None = None,
        from_: int = 0,
        count: bool = False,
        facet: str | Sequence[str] | None = None,
        sort: str | None = None,
        boost: str | None = None,
        synonyms: Synonyms = None,
        algorithm: str = "auto",
        threads: int = 0,
        progress: ProgressOption = None,
    ) -> Hits | BatchHits:
        """Finds the k best documents for a query, or for each of many queries.

        queries: a str, an iterable of str, or a mapping {query ID: str} or a Series, whose IDs
            `to_run` and `to_pandas` then name.
        k: number of documents; 0 finds none, but counts them in `Hits.total`. `search_all` finds
            all of them.
        mode: "or" finds documents with any of the words, "and" those with all of them.
        model: bm25 (with k1, b, variant and k3), dirichlet (with mu), cosine, dph, impact (the
            usual one of weighted tokens), boolean, or bm25f for an index with text fields, with
            field_weights such as {"title": 3, "body": 1}, k1, b and variant. Variants of bm25 are papers, atire, lucene, lucene7,
            bm25+, bm25l, terrier and lucene-lossy.
        expand: add words of the best documents to the query: "rm3" or "bo1", with parameters or
            not, such as "rm3:docs=10,terms=10,weight=0.5"; `Hits.expanded` has the words.
        proximity: "sdm": documents that have words of the query side by side score higher; the
            index must have positions.
        syntax: queries are in the query language, +must -not "a phrase" wild* fuzzy~, instead of
            plain text. Phrases need an index with positions.
        filter: a query in the same language, whatever syntax is; only documents that match it are
            found, and it does not affect scores: filter="year:[2020 TO 2024] lang:en". All its
            parts must match, unless it says OR; mode is for the query alone.
        from_: skip this many of the best documents, to see the next ones.
        count: count all matching documents, in `Hits.total`; for one query.
        facet: fields whose values are counted over all matching documents, in `Hits.facets`, such
            as "lang", "lang:5" for the 5 most frequent, "year/10" or "published/month"; for one
            query.
        sort: sort by a field instead of by score, "year" or "year:desc", or by several,
            "year:desc,author".
        boost: raise scores by values of fields: "decay(year, 2024, 5)", "saturation(views, 100)" or
            "log(views, 10000)", with a weight or not, such as "2*log(views, 1000)"; several with
            commas between them. The score is multiplied by 1 + the value, or, after a +, the value
            is added.
        synonyms: of the query's words, instead of those of the index: rules such as "car, auto" and
            "colour => color", one or a list of them, or the Path of a file; "none" for none.
        algorithm: auto, exhaustive, taat, maxscore, wand, bmw, vbmw or bmm; all give the same hits.
        threads: number of cores for many queries; 0 means all.
        What of a query may not mean what was intended, or why it found nothing, is in `notes` of
        the result. With syntax or a filter it is also a CollocateWarning.
        """
        args: dict[str, Any] = {"k": _whole(k, "k"), "mode": mode}
        if model is not None:
            args["model"] = model
        if isinstance(field_weights, Mapping):
            field_weights = ",".join(f"{name}={weight}" for name, weight in field_weights.items())
        for name, value in (
            ("k1", k1), ("b", b), ("k3", k3), ("mu", mu), ("variant", variant),
            ("field_weights", field_weights), ("expand", expand), ("proximity", proximity),
            ("sort", sort), ("boost", boost),
        ):  # fmt: skip
            if value is not None:
                args[name] = value
        if from_:
            args["from"] = _whole(from_, "from_")
        if count:
            args["count"] = True
        if facet:
            args["facet"] = listed(facet)
        if synonyms is not None:
            args["synonyms"] = _rules(synonyms)
        if algorithm != "auto":
            args["algorithm"] = algorithm
        if syntax:
            args["syntax"] = True
        if filter:
            args["filter"] = filter
        if threads:
            args["threads"] = threads
        if isinstance(queries, str):
            hits = self._page(queries, args)
            # Without hits for plain words it is no surprise that documents lack them.
            for note in hits.notes if syntax or filter else ():
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

        options are those of `search`, without k, from_, count and facet. The documents come from
        the worker in pages. If the index changes meanwhile, the next page is a ValueError.
        """
        if wrong := {"k", "from_", "count", "facet", "threads", "progress"} & options.keys():
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
    def concordance(
        self,
        query: str,
        top: int = 50,
        *,
        window: int = 10,
        sort: Sequence[str] | None = None,
        sample: int = 0,
        seed: int = 1,
        with_: str = "",
        without: str = "",
        filter: str = "",
        threads: int = 0,
    ) -> Concordance:
        """Words in context, from the stored text: see `collocate.concordance`."""
        args = {"q": query, "top": top, "window": window, "sort": listed(sort),
                "sample": sample, "seed": seed, "with": with_, "without": without,
                "filter": filter, "threads": threads}  # fmt: skip
        return Concordance(self._call("concordance", args))

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
    do: str,
    args: dict[str, Any],
    corpus: Corpus,
    fields: Sequence[str] | None,
    id_field: str | None,
    format: str | None,
    encoding: str | None,
    tell: Any,
    passes: int = 1,
    whole: bool = False,
) -> Any:
    """A call about a corpus: paths go as they are, documents follow the call.

    whole keeps all fields of documents, for a schema, by way of a file.
    """
    paths = paths_of(corpus)
    if paths is not None:
        more = {"fields": listed(fields), "id_field": id_field,
                "format": format, "encoding": encoding, "paths": paths}  # fmt: skip
        return call(do, {**args, **{n: v for n, v in more.items() if v}}, progress=tell)
    only_for_files(format, encoding)
    assert not isinstance(corpus, (str, os.PathLike))
    unique = do in ("build", "add") and not args.get("allow_duplicate_ids")
    if whole:
        with as_file(
            corpus, None, id_field, whole=True, need_ids=do == "add", unique=unique
        ) as path:
            given: dict[str, Any] = {"paths": [path], "format": "jsonl", "encoding": "utf-8"}
            if id_field:
                given["id_field"] = id_field
            return call(do, {**args, **given}, progress=tell, file=path or "")
    documents = Documents(corpus, fields, id_field, unique)
    if passes > 1:
        documents.again()
    return call(do, args, passes=(documents.groups() for _ in range(passes)), progress=tell)


def only_for_files(format: str | None, encoding: str | None) -> None:
    """Refuses options that say how files are read, where the corpus is documents."""
    for name, value in (("format", format), ("encoding", encoding)):
        if value:
            raise ValueError(f"{name}={value!r} is for files, but the corpus is documents")


def _folder(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fsdecode(path))


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
