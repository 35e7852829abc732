"""Words with words: vocabularies and co-occurrence."""

from __future__ import annotations

import difflib
import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _questions as asked_of
from ._asked import asks
from ._documents import Corpus, as_file, paths_of
from ._names import renamed
from ._pipe import strings, unpack_strings
from ._progress import ProgressOption, bar
from ._worker import Worker, call, worker
from .errors import need
from .hits import Concordance, _table
from .index import READING, Index, build_call, only_for_files

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix
    from typing_extensions import Unpack

_OLDER = {"k": "top", "min_value": "min_count", "min_freq": "min_frequency"}


class Vocabulary:
    """Words with their counts, most frequent first."""

    def __init__(self, words: list[str], counts: np.ndarray, tokens: int = 0):
        self.words: list[str] = words
        self.counts: np.ndarray = counts
        self.tokens: int = tokens  # words of the corpus, including those outside the vocabulary
        self._ids: dict[str, int] | None = None

    @property
    def ids(self) -> dict[str, int]:
        """The row of each word."""
        if self._ids is None:
            self._ids = {w: i for i, w in enumerate(self.words)}
        return self._ids

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> int:
        """How often a word occurs."""
        return int(self.counts[self.ids[word]])

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the columns word and count."""
        pd = need("pandas", "pandas")
        return pd.DataFrame({"word": self.words, "count": self.counts})

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self):,} words, {int(self.counts.sum()):,} occurrences>"

    def _repr_html_(self) -> str:
        rows = [[w, int(n)] for w, n in zip(self.words[:20], self.counts[:20])]
        return _table(["word", "count"], rows, repr(self)[1:-1])


@asks(asked_of.Vocabulary)
def vocabulary(
    corpus: Corpus, *, progress: ProgressOption = None, **asked: Unpack[asked_of.Vocabulary]
) -> Vocabulary:
    """Counts the words of documents. corpus is as in `Index.build`."""
    with bar(progress, "counting") as tell:
        a = build_call("vocabulary", {**asked}, corpus, tell)
    list_ = a.table("vocabulary")
    return Vocabulary(list_["word"], list_["count"], a.result["words"])


class Vectors:
    """Word vectors: the rows of the array `vectors` belong to `words`.

    `analyzer` is what divides texts into words, for vectors that stand for texts; otherwise "".
    """

    def __init__(self, words: list[str], vectors: np.ndarray, analyzer: str = ""):
        self.analyzer: str = analyzer
        self.words: list[str] = words
        self.vectors: np.ndarray = vectors
        self.ids: dict[str, int] = {w: i for i, w in enumerate(words)}
        self._kept: tuple[Worker, int] | None = None  # the worker that has the vectors

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> np.ndarray:
        row: np.ndarray = self.vectors[self._id(word)]
        return row

    def _id(self, word: str) -> int:
        """The row of a word. A KeyError names words that are spelt alike."""
        if not isinstance(word, str):
            raise TypeError(f"the word is of type {type(word).__name__}: want a str")
        if word in self.ids:
            return self.ids[word]
        # Compare only with the most frequent words, which come first: that takes 0.2 s.
        alike = (w for w in self.words[:100_000] if abs(len(w) - len(word)) <= 2)
        near = difflib.get_close_matches(word, alike, cutoff=0.7)
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        raise KeyError(f'the word "{word[:60]}" is not in the vocabulary{hint}')

    @renamed(word="words", k="top")
    def similar(self, words: str | Sequence[str], top: int = 10) -> pd.DataFrame:
        """The words whose vectors have the largest cosine with that of each word."""
        pd = need("pandas", "pandas")
        asked = _words(words, "words")
        a = self._ask("similar", asked, {"words": asked, "top": top})
        found = a.table("words")
        sizes = np.diff(a.arrays["words/similar.to"], prepend=0)
        table = pd.DataFrame({"of": np.repeat(np.array(found["word"], dtype=object), sizes),
                              "word": found["similar/word"],
                              "cosine": found["similar/cosine"]})  # fmt: skip
        return table if not isinstance(words, str) else table.drop(columns="of")

    def analogy(self, a: str, b: str, c: str, top: int = 5) -> pd.DataFrame:
        """The words that are to c what b is to a: those nearest to b - a + c (3CosAdd)."""
        pd = need("pandas", "pandas")
        found = self._ask("analogy", [a, b, c], {"a": a, "b": b, "c": c, "top": top})
        return pd.DataFrame(found.table("similar"))

    def map(self, word: str, top: int = 40) -> pd.DataFrame:
        """A word and those most similar to it in a plane, by their first principal components."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(self._ask("map", [word], {"word": word, "top": top}).table("points"))

    def of_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts, one a row: sums of those of their words, zeros if none is known.

        They are those of `collocate index --embed`; the vectors come from
        `Cooccurrence.embed(texts=True)`.
        """
        if not self.analyzer:
            raise ValueError("these vectors are of words alone: make them with embed(texts=True)")
        given = _words(texts, "texts")
        rows: np.ndarray = self._ask("vectors of", [], {}, strings(given, "texts", "ends")).arrays["vectors"]
        return rows.reshape(len(given), self.vectors.shape[1])

    def _ask(
        self, do: str, words: list[str], args: dict[str, Any],
        arrays: dict[str, np.ndarray] | None = None,
    ) -> Any:  # fmt: skip
        """Asks the worker, which gets the vectors with the first question and keeps them."""
        for w in words:
            self._id(w)
        on = worker()
        if self._kept is None or self._kept[0] is not on:
            self.vectors = self.vectors.view()
            self.vectors.flags.writeable = False  # the worker would not see a change
            numbers = np.ascontiguousarray(self.vectors, dtype=np.float32).reshape(-1)
            kept = {**strings(self.words, "words", "ends"), "vectors": numbers}
            self._kept = (on, call("keep vectors", {"analyzer": self.analyzer}, kept, on=on).result)
            weakref.finalize(self, _drop_vectors, self._kept, os.getpid())
        return call(do, {"vectors": self._kept[1], **args}, arrays, on=on)

    def to_gensim(self) -> Any:
        """gensim's KeyedVectors of the same words."""
        out = need("gensim.models", "gensim").KeyedVectors(self.vectors.shape[1])
        out.add_vectors(self.words, self.vectors)
        return out

    def __repr__(self) -> str:
        return f"<Vectors: {len(self):,} words of {self.vectors.shape[1]} dimensions>"


class Cooccurrence:
    """How often words occur near each other: a matrix over a vocabulary, in a .cooc file."""

    def __init__(self, path: str | os.PathLike[str], *, _temporary: bool = False):
        self.path: str = os.path.abspath(os.fspath(path))
        a = call("matrix words", {"path": self.path})
        words = unpack_strings(a.arrays["words"], a.arrays["ends"])
        self.vocabulary: Vocabulary = Vocabulary(words, a.arrays["counts"])
        self.entries: int = a.result["entries"]
        if _temporary:
            weakref.finalize(self, _remove_file, self.path, os.getpid())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Cooccurrence:
        """Opens a .cooc file, which `cooccurrence` or the command `collocate cooccur` wrote."""
        return cls(path)

    @property
    def words(self) -> list[str]:
        """The words of the rows and columns, most frequent first."""
        return self.vocabulary.words

    def matrix(self, by: str = "value", min_value: float = 0) -> csr_matrix:
        """The matrix as a scipy.sparse.csr_matrix; rows and columns are `words`.

        by: value (the sums), pmi, ppmi, npmi, ll (log-likelihood) or dice.
        """
        sparse = need("scipy.sparse", "sparse")
        a = call("matrix", {"path": self.path, "by": by, "min_value": min_value}).arrays
        n = len(self.words)
        return sparse.csr_matrix((a["values"], a["columns"], a["starts"]), shape=(n, n))

    @renamed(**_OLDER)
    @asks(asked_of.Neighbours)
    def neighbours(
        self, words: str | Sequence[str], top: int = 10, *, by: str | Sequence[str] = "logdice",
        **asked: Unpack[asked_of.Neighbours],
    ) -> pd.DataFrame:  # fmt: skip
        """The words most strongly associated with each word, as a DataFrame.

        by: logdice, dice, mi, mi3, npmi, ppmi, t, z, g2, chi2, deltap, odds, lrc, fisher or value;
            rows are sorted by the first of several. They are computed from word frequencies, as
            in `collocate neighbours`; t, z, g2, chi2, lrc and fisher need weighting="count".
        top: number of words for each.
        """
        names = _words(by, "by")
        args = {"path": self.path, "words": _words(words, "words"), "top": top, "by": names}
        pd = need("pandas", "pandas")
        a = call("neighbours", {**args, **asked})
        found = a.table("words")
        sizes = np.diff(a.arrays["words/neighbours.to"], prepend=0)
        columns = {"of": np.repeat(np.array(found["word"], dtype=object), sizes)}
        columns.update({n: found[f"neighbours/{n}"] for n in ("word", "value", "count", "score")})
        _more_measures(columns, found, "neighbours/", names)
        table = pd.DataFrame(columns)
        return table if not isinstance(words, str) else table.drop(columns="of")

    @asks(asked_of.Embed)
    def embed(
        self, dim: int = 100, *, progress: ProgressOption = None, **asked: Unpack[asked_of.Embed]
    ) -> Vectors:
        """Trains vectors of the words, by GloVe or by a randomised SVD of PPMI (method="svd").

        dim: numbers in a vector. The result depends on the seed, not on threads and memory.
        """
        with bar(progress, "training") as tell:
            a = call("embed", {"path": self.path, "dim": dim, **asked}, progress=tell)
        words = unpack_strings(a.arrays["words"], a.arrays["ends"])
        rows = a.arrays["vectors"].reshape(len(words), a.result["dim"])
        return Vectors(words, rows, a.result["analyzer"])

    def __repr__(self) -> str:
        return f"<Cooccurrence: {len(self.words):,} words, {self.entries:,} entries>"


@asks(asked_of.Cooccurrence)
def cooccurrence(
    corpus: Corpus, path: str | os.PathLike[str] | None = None, *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Cooccurrence],
) -> Cooccurrence:  # fmt: skip
    """Counts how often words co-occur, in the .cooc file `path` or in a temporary one."""
    out = path
    if out is None:
        handle, out = tempfile.mkstemp(prefix="collocate-", suffix=".cooc")
        os.close(handle)
    try:
        with bar(progress, "counting") as tell:
            args = {"out": os.path.abspath(out), **asked}
            build_call("cooccurrence", args, corpus, tell, passes=2)
    except BaseException:
        if path is None:
            os.unlink(out)
        raise
    return Cooccurrence(out, _temporary=path is None)


@renamed(**_OLDER)
@asks(asked_of.Collocations)
def collocations(
    corpus: Corpus | Index, top: int = 20, *, by: str | Sequence[str] = "logdice",
    progress: ProgressOption = None, **asked: Unpack[asked_of.Collocations],
) -> pd.DataFrame:  # fmt: skip
    """The pairs of words of a corpus that are most strongly associated, as a DataFrame.

    top: number of pairs. by: a measure, or several: see `Cooccurrence.neighbours`.
    The columns docs and dp_norm are the number of documents that have a pair, and how evenly it is
    distributed (0 is even).
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    names = _words(by, "by")
    with bar(progress, "counting") as tell:
        a = _of_files("collocations", {"by": names, "top": top, **asked}, corpus, tell)
    found = a.table("pairs")
    columns = {n: found[n] for n in ("word1", "word2", "count", "f1", "f2", "score")}
    _more_measures(columns, found, "", names)
    return need("pandas", "pandas").DataFrame(columns)


def _of_files(do: str, args: dict[str, Any], corpus: Corpus | Index, tell: Any) -> Any:
    """Calls what reads a corpus more than once: documents in memory go to a temporary file."""
    if isinstance(corpus, Index):
        return corpus._ask(do, args, tell)
    with as_file(corpus, args.get("fields"), args.get("id_field")) as path:
        if path is None:
            return build_call(do, args, corpus, tell)
        args = only_for_files(args)
        more = {"paths": [path], "format": "jsonl", "encoding": "utf-8"}
        return call(do, {**args, **more}, progress=tell, file=path)


@asks(asked_of.Wordlist)
def wordlist(
    corpus: Corpus | Index, *, progress: ProgressOption = None, **asked: Unpack[asked_of.Wordlist]
) -> pd.DataFrame:
    """The words of a corpus with frequency and dispersion, as a DataFrame.

    range is the number of documents that have a word; dp and dp_norm are Gries' deviation of
    proportions (0 is even); d is Juilland's D (1 is even).
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    pd = need("pandas", "pandas")
    with bar(progress, "counting") as tell:
        a = _of_files("wordlist", {**asked}, corpus, tell)
    columns = ["word", "count", "per_million", "range", "dp", "dp_norm", "d"]
    return pd.DataFrame(a.table("list"), columns=columns)


@renamed(**_OLDER)
@asks(asked_of.Ngrams)
def ngrams(
    corpus: Corpus | Index, n: int | tuple[int, int] = (2, 5), top: int = 0, *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Ngrams],
) -> pd.DataFrame:  # fmt: skip
    """The sequences of n words, or of n[0] to n[1], most frequent first, as a DataFrame.

    top: how many at most; 0 means all.
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    pd = need("pandas", "pandas")
    try:
        low, high = (n, n) if isinstance(n, int) else n
    except (TypeError, ValueError):
        raise ValueError(f"n={n!r}: want a number, or a pair of the least and the most") from None
    with bar(progress, "counting") as tell:
        args = {"n": f"{low}-{high}", "top": top, **asked}
        found = _of_files("ngrams", args, corpus, tell).table("ngrams")
    columns = {"ngram": "ngram", "n": "n", "count": "count", "docs": "documents"}
    return pd.DataFrame({to: found[name] for to, name in columns.items()})


@asks(asked_of.Dispersion)
def dispersion(
    corpus: Corpus, of: str | Sequence[str], *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Dispersion],
) -> dict[str, np.ndarray]:  # fmt: skip
    """Where in a corpus each query matches: 0 is the beginning of the corpus, 1 its end.

    Queries are those of `concordance`. matplotlib's `eventplot` draws the answer as a dispersion
    plot: `plt.eventplot(list(found.values()))`. For words that the corpus does not have, a warning
    names some that are spelt alike.
    """
    if isinstance(corpus, Index):
        raise TypeError("an Index keeps no places of words: want the texts that it was made from")
    queries = _words(of, "of")
    with bar(progress, "reading") as tell:
        a = _of_files("dispersion", {"of": queries, **asked}, corpus, tell)
    return dict(zip(queries, a.table("rows")["places"], strict=True))


@renamed(**_OLDER)
@asks(asked_of.Concordance)
def concordance(
    corpus: Corpus | Index, query: str, top: int = 50, *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Concordance],
) -> Concordance:  # fmt: skip
    """Finds words in context.

    query: words, wildcards (lip*, *ing), regular expressions that match whole words (/colou?rs?/),
        and phrases of these in double quotes ("as * as"). top: number of lines.
    An `Index` with stored text answers faster; `Index.concordance` is the same.
    """
    args = {"q": query, "top": top, **asked}
    with bar(progress, "reading") as tell:
        if isinstance(corpus, Index):
            return Concordance(corpus._ask("concordance", args, tell))
        return Concordance(build_call("concordance", args, corpus, tell))


@renamed(**_OLDER)
@asks(asked_of.Keywords)
def keywords(
    corpus: Corpus | Vocabulary | Index, reference: Corpus | Vocabulary | None = None,
    top: int = 20, *, query: str = "", max_size: int = 0,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Keywords],
) -> pd.DataFrame:  # fmt: skip
    """The words that distinguish a corpus from a reference corpus, as a DataFrame.

    Both may be a corpus or its `Vocabulary` (of all words: min_count=1).
    An `Index` with stored text is asked instead by query: the best `docs` documents for it are
    compared with those for the query `against`, or with all others. top: number of words.
    """
    pd = need("pandas", "pandas")
    args: dict[str, Any] = {**asked, "top": top}
    if query:
        args["q"] = query
    if isinstance(corpus, Index):
        if reference is not None:
            raise ValueError("reference=: not with an Index: want against=, another query")
        a = corpus._ask("keywords", args)
    elif reference is None:
        raise ValueError("reference=: want a corpus to compare with, or an Index and a query=")
    elif (max_size or isinstance(corpus, Vocabulary) or isinstance(reference, Vocabulary)
          or (paths_of(corpus) is None) != (paths_of(reference) is None)):  # fmt: skip
        of_corpora = {*READING, "threads", "memory"}
        how = {n: args[n] for n in of_corpora & args.keys()}
        totals, arrays = [], {}
        for name, given in (("here", corpus), ("there", reference)):
            v = given
            if not isinstance(v, Vocabulary):
                v = vocabulary(v, progress=progress, max_size=max_size, **how)
            totals.append(v.tokens or int(v.counts.sum()))
            arrays.update(strings(v.words, name, f"{name}_ends"))
            arrays[f"{name}_counts"] = np.ascontiguousarray(v.counts, dtype=np.int64)
        args = {n: v for n, v in args.items() if n not in READING}
        a = call("keywords", {**args, "totals": totals}, arrays)
    else:
        fields, id_field = args.get("fields"), args.get("id_field")
        with as_file(reference, fields, id_field) as path, bar(progress, "counting") as tell:
            args["reference"] = paths_of(reference) or [path]
            a = _of_files("keywords", args, corpus, tell)
    columns = ["word", "f1", "f2", "lrc", "g2", "log_ratio", "diff", "p", "q"]
    return pd.DataFrame(a.table("keywords"), columns=columns)


def _words(given: Any, name: str) -> list[str]:
    """Words, of which one may be given alone."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        given = [given]
    for w in (words := list(given)):
        if not isinstance(w, str):
            raise TypeError(f"{name}={w!r}: want a str, or a list of str")
    return words


def _more_measures(
    columns: dict[str, Any], found: dict[str, Any], prefix: str, by: list[str]
) -> None:
    """Adds the columns that only some tables of associated words have."""
    if len(by) > 1:
        none: list[float] = []
        columns.update({n: found.get(f"{prefix}scores/{n}", none) for n in by})
    columns.update({n: found[prefix + n] for n in ("p", "q", "docs", "dp_norm")
                    if prefix + n in found})  # fmt: skip


def _drop_vectors(kept: tuple[Worker, int], pid: int) -> None:
    if os.getpid() == pid and kept[0].alive():  # not in a forked child
        call("drop vectors", {"vectors": kept[1]}, on=kept[0])


def _remove_file(path: str, pid: int) -> None:
    if os.getpid() == pid and os.path.exists(path):  # not in a forked child
        os.unlink(path)


def counts(
    corpus: Any, analyzer: str = "unicode", tell: Any = None
) -> tuple[list[str], Any, np.ndarray]:
    """Words in byte order, how often documents have them as a sparse matrix, and lengths."""
    sparse = need("scipy.sparse", "sparse")
    a = build_call("count", {"analyzer": analyzer}, corpus, tell)
    words = unpack_strings(a.arrays["words"], a.arrays["ends"])
    shape = (a.result["documents"], len(words))
    parts = (a.arrays["counts"], a.arrays["docs"], a.arrays["starts"])
    matrix = sparse.csc_matrix(parts, shape=shape)
    return words, matrix, a.arrays["lengths"]
