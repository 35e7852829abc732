"""Words with words: vocabularies and co-occurrence."""

from __future__ import annotations

import difflib
import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._documents import Corpus, as_file, listed, paths_of
from ._names import renamed
from ._pipe import strings, unpack_strings
from ._progress import ProgressOption, bar
from ._worker import Worker, call, worker
from .errors import need
from .hits import Concordance, _table
from .index import Index, build_call, only_for_files

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix


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


def vocabulary(
    corpus: Corpus,
    *,
    analyzer: str = "unicode",
    stopwords: str = "",
    min_count: int = 1,
    max_size: int = 0,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> Vocabulary:
    """Counts the words of documents. corpus and analyzer are as in `Index.build`.

    min_count: leave out words that occur less often. max_size: keep this many words; 0 is all.
    """
    args = {"analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad,
            "min_count": min_count, "max_size": max_size, "threads": threads,
            "memory": memory}  # fmt: skip
    with bar(progress, "counting") as tell:
        a = build_call("vocabulary", args, corpus, fields, id_field, format, encoding, tell)
    list_ = a.table("vocabulary")
    return Vocabulary(list_["word"], list_["count"], a.result["words"])


class Vectors:
    """Word vectors: the rows of the array `vectors` belong to `words`."""

    def __init__(self, words: list[str], vectors: np.ndarray):
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

    def _ask(self, do: str, words: list[str], args: dict[str, Any]) -> Any:
        """Asks the worker, which gets the vectors with the first question and keeps them."""
        for w in words:
            self._id(w)
        on = worker()
        if self._kept is None or self._kept[0] is not on:
            self.vectors = self.vectors.view()
            self.vectors.flags.writeable = False  # the worker would not see a change
            numbers = np.ascontiguousarray(self.vectors, dtype=np.float32).reshape(-1)
            arrays = {**strings(self.words, "words", "ends"), "vectors": numbers}
            self._kept = (on, call("keep vectors", None, arrays, on=on).result)
            weakref.finalize(self, _drop_vectors, self._kept, os.getpid())
        return call(do, {"vectors": self._kept[1], **args}, on=on)

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

    @renamed(k="top", min_value="min_count", min_freq="min_frequency")
    def neighbours(
        self,
        words: str | Sequence[str],
        top: int = 10,
        *,
        by: str | Sequence[str] = "logdice",
        min_count: float = 0,
        min_frequency: int = 0,
        p: bool = False,
    ) -> pd.DataFrame:
        """The words most strongly associated with each word, as a DataFrame.

        by: logdice, dice, mi, mi3, npmi, ppmi, t, z, g2, chi2, deltap, odds, lrc, fisher or value;
            rows are sorted by the first of several. They are computed from word frequencies, as
            in `collocate neighbours`; t, z, g2, chi2, lrc and fisher need weighting="count".
        top: number of words for each.
        min_count: leave out pairs that co-occur less often; rare pairs have a high PMI.
        min_frequency: leave out pairs with a word that occurs less often.
        p: also p-values of the log-likelihood ratio, and q (Benjamini and Hochberg's).
        """
        args = {"path": self.path, "words": _words(words, "words"),
                **_measures(by, top, min_count, min_frequency, p)}  # fmt: skip
        pd = need("pandas", "pandas")
        a = call("neighbours", args)
        found, names = a.table("words"), ("word", "value", "count", "score")
        sizes = np.diff(a.arrays["words/neighbours.to"], prepend=0)
        columns = {"of": np.repeat(np.array(found["word"], dtype=object), sizes)}
        columns.update({n: found[f"neighbours/{n}"] for n in names})
        _more_measures(columns, found, "neighbours/", args["by"])
        table = pd.DataFrame(columns)
        return table if not isinstance(words, str) else table.drop(columns="of")

    def embed(
        self,
        dim: int = 100,
        *,
        method: str = "glove",
        seed: int = 1,
        epochs: int | None = None,
        x_max: float | None = None,
        alpha: float | None = None,
        rate: float | None = None,
        smoothing: float | None = None,
        shift: float | None = None,
        eigen: float | None = None,
        power: int | None = None,
        threads: int = 0,
        memory: int = 0,
        progress: ProgressOption = None,
    ) -> Vectors:
        """Trains vectors of the words, by GloVe or by a randomised SVD of PPMI (method="svd").

        epochs (25), x_max (100), alpha (0.75), rate (0.05): of glove; use x_max=10 for small corpora.
        smoothing (0.75), shift (1), eigen (0.5), power: of svd, where shift is the number of
            negative samples and power that of iterations, by default as many as it takes.
        threads: number of cores; 0 means all. The result depends only on the seed, not on these.
        """
        args = {"path": self.path, "method": method, "dim": dim, "seed": seed,
                "threads": threads, "memory": memory}  # fmt: skip
        own = {"epochs": epochs, "x_max": x_max, "alpha": alpha, "rate": rate,
               "smoothing": smoothing, "shift": shift, "eigen": eigen, "power": power}  # fmt: skip
        args.update({name: value for name, value in own.items() if value is not None})
        with bar(progress, "training") as tell:
            a = call("embed", args, progress=tell)
        words = unpack_strings(a.arrays["words"], a.arrays["ends"])
        return Vectors(words, a.arrays["vectors"].reshape(len(words), a.result["dim"]))

    def __repr__(self) -> str:
        return f"<Cooccurrence: {len(self.words):,} words, {self.entries:,} entries>"


def cooccurrence(
    corpus: Corpus,
    path: str | os.PathLike[str] | None = None,
    *,
    window: int | str = 15,
    side: str = "both",
    weighting: str = "distance",
    analyzer: str = "unicode",
    stopwords: str = "",
    min_count: int = 1,
    max_size: int = 0,
    subsample: float = 0,
    seed: int = 1,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> Cooccurrence:
    """Counts how often words co-occur, in the .cooc file `path` or in a temporary one.

    window: words on each side; "document", or 0, is the whole document.
    side: "both", "left" or "right" of a word.
    weighting: what a pair adds: "distance" is 1/distance, "count" is 1.
    min_count, max_size: as in `vocabulary`. subsample: threshold for dropping frequent words.
    """
    out = path
    if out is None:
        handle, out = tempfile.mkstemp(prefix="collocate-", suffix=".cooc")
        os.close(handle)
    args = {
        "out": os.path.abspath(out), "window": window, "side": side, "weighting": weighting,
        "analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad,
        "min_count": min_count, "max_size": max_size, "subsample": subsample, "seed": seed,
        "threads": threads, "memory": memory,
    }  # fmt: skip
    try:
        with bar(progress, "counting") as tell:
            build_call(
                "cooccurrence", args, corpus, fields, id_field, format, encoding, tell, passes=2
            )
    except BaseException:
        if path is None:
            os.unlink(out)
        raise
    return Cooccurrence(out, _temporary=path is None)


@renamed(k="top", min_value="min_count", min_freq="min_frequency")
def collocations(
    corpus: Corpus | Index,
    top: int = 20,
    *,
    of: str = "",
    by: str | Sequence[str] = "logdice",
    window: int = 5,
    side: str = "both",
    min_count: float = 5,
    min_frequency: int = 0,
    min_docs: int = 0,
    p: bool = False,
    parts: int = 0,
    group: str = "",
    filter: str = "",
    analyzer: str = "unicode",
    stopwords: str = "",
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> pd.DataFrame:
    """The pairs of words of a corpus that are most strongly associated, as a DataFrame.

    of: only pairs with this word. by, p: as in `Cooccurrence.neighbours`.
    min_count: how often a pair must co-occur.
    min_docs: how many documents must have a pair; 0 means 3, or 1 if there are fewer than 10.
    parts, group: measure dispersion over these, as in `wordlist`.
    The columns docs and dp_norm are the number of documents that have a pair, and how evenly it is
    distributed (0 is even).
    filter: of an `Index`, only the documents that match this query, as in `Index.search`.
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    args = {"of": of, "window": window, "side": side, "min_docs": min_docs, "parts": parts,
            "group": group, "filter": filter, "analyzer": analyzer, "stopwords": stopwords,
            "skip_bad": skip_bad, "threads": threads, "memory": memory,
            **_measures(by, top, min_count, min_frequency, p)}  # fmt: skip
    with bar(progress, "counting") as tell:
        a = _of_files("collocations", args, corpus, fields, id_field, format, encoding, tell)
    found = a.table("pairs")
    columns = {n: found[n] for n in ("word1", "word2", "count", "f1", "f2", "score")}
    _more_measures(columns, found, "", args["by"])
    return need("pandas", "pandas").DataFrame(columns)


def _of_index(
    do: str,
    args: dict[str, Any],
    index: Index,
    fields: Sequence[str] | None,
    id_field: str | None,
    format: str | None,
    encoding: str | None,
    tell: Any = None,
) -> Any:
    """Asks an index with stored text. What says how to read a corpus is refused."""
    read = {"fields": fields, "id_field": id_field, "format": format, "encoding": encoding,
            "stopwords": args.get("stopwords"), "skip_bad": args.get("skip_bad"),
            "analyzer": args.get("analyzer") not in (None, "unicode")}  # fmt: skip
    for name, given in read.items():
        if given:
            raise ValueError(f"{name}=: not with an Index, which has its words already")
    asked = {name: value for name, value in args.items() if name not in read}
    return index._call(do, asked, progress=tell)


def _of_files(
    do: str,
    args: dict[str, Any],
    corpus: Corpus | Index,
    fields: Sequence[str] | None,
    id_field: str | None,
    format: str | None,
    encoding: str | None,
    tell: Any,
) -> Any:
    """Calls what reads a corpus more than once: documents in memory go to a temporary file."""
    if isinstance(corpus, Index):
        return _of_index(do, args, corpus, fields, id_field, format, encoding, tell)
    with as_file(corpus, fields, id_field) as path:
        if path is None:
            return build_call(do, args, corpus, fields, id_field, format, encoding, tell)
        only_for_files(format, encoding)
        more = {"paths": [path], "format": "jsonl", "encoding": "utf-8"}
        return call(do, {**args, **more}, progress=tell, file=path)


def wordlist(
    corpus: Corpus | Index,
    *,
    top: int = 0,
    min_count: int = 1,
    parts: int = 0,
    group: str = "",
    filter: str = "",
    analyzer: str = "unicode",
    stopwords: str = "",
    skip_bad: bool = False,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> pd.DataFrame:
    """The words of a corpus with frequency and dispersion, as a DataFrame.

    range is the number of documents that have a word; dp and dp_norm are Gries' deviation of
    proportions (0 is even); d is Juilland's D (1 is even).
    top: how many at most, the most frequent; 0 means all.
    parts: measure over this number of equal parts of the corpus instead of documents.
    group: treat documents as one if this regular expression matches the same part of their IDs.
    filter: of an `Index`, only the documents that match this query, as in `Index.search`.
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    pd = need("pandas", "pandas")
    args = {"top": top, "min_count": min_count, "parts": parts, "group": group,
            "filter": filter, "analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad,
            "threads": threads, "memory": memory}  # fmt: skip
    with bar(progress, "counting") as tell:
        a = _of_files("wordlist", args, corpus, fields, id_field, format, encoding, tell)
    columns = ["word", "count", "per_million", "range", "dp", "dp_norm", "d"]
    return pd.DataFrame(a.table("list"), columns=columns)


@renamed(k="top")
def ngrams(
    corpus: Corpus | Index,
    n: int | tuple[int, int] = (2, 5),
    top: int = 0,
    *,
    of: str = "",
    min_count: int = 5,
    min_docs: int = 0,
    filter: str = "",
    analyzer: str = "unicode",
    stopwords: str = "",
    skip_bad: bool = False,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> pd.DataFrame:
    """The sequences of n words, or of n[0] to n[1], most frequent first, as a DataFrame.

    top: how many at most; 0 means all. of: only those with this word, or one that matches wildcards
    (whal*) or a regular expression (/whales?/).
    filter: of an `Index`, only the documents that match this query, as in `Index.search`.
    An `Index` with stored text is a corpus, too; its words are those of its analyzer.
    """
    pd = need("pandas", "pandas")
    try:
        low, high = (n, n) if isinstance(n, int) else n
    except (TypeError, ValueError):
        raise ValueError(f"n={n!r}: want a number, or a pair of the least and the most") from None
    args = {"n": f"{low}-{high}", "top": top, "of": of, "min_count": min_count,
            "min_docs": min_docs, "filter": filter, "analyzer": analyzer, "stopwords": stopwords,
            "skip_bad": skip_bad, "threads": threads, "memory": memory}  # fmt: skip
    with bar(progress, "counting") as tell:
        a = _of_files("ngrams", args, corpus, fields, id_field, format, encoding, tell)
    found = a.table("ngrams")
    columns = {"ngram": "ngram", "n": "n", "count": "count", "docs": "documents"}
    return pd.DataFrame({to: found[name] for to, name in columns.items()})


def dispersion(
    corpus: Corpus,
    of: str | Sequence[str],
    *,
    analyzer: str = "unicode",
    stopwords: str = "",
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> dict[str, np.ndarray]:
    """Where in a corpus each query matches: 0 is the beginning of the corpus, 1 its end.

    Queries are those of `concordance`. matplotlib's `eventplot` draws the answer as a dispersion
    plot: `plt.eventplot(list(found.values()))`. For words that the corpus does not have, a warning
    names some that are spelt alike.
    """
    if isinstance(corpus, Index):
        raise TypeError("an Index keeps no places of words: want the texts that it was made from")
    queries = _words(of, "of")
    args = {"of": queries, "analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad,
            "threads": threads, "memory": memory}  # fmt: skip
    with bar(progress, "reading") as tell:
        a = _of_files("dispersion", args, corpus, fields, id_field, format, encoding, tell)
    return dict(zip(queries, a.table("rows")["places"], strict=True))


@renamed(k="top")
def concordance(
    corpus: Corpus | Index,
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
    analyzer: str = "unicode",
    stopwords: str = "",
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> Concordance:
    """Finds words in context.

    query: words, wildcards (lip*, *ing), regular expressions that match whole words (/colou?rs?/),
        and phrases of these in double quotes ("as * as").
    top: number of lines. window: words of context on each side.
    with_, without: only lines whose context matches this query, or does not match it.
    sort: by words around the match: ["L1", "R2"]; M is the match.
    sample: take this number of lines at random, then sort.
    filter: of an `Index`, only the documents that match this query, as in `Index.search`.
    An `Index` with stored text answers faster; `Index.concordance` is the same.
    """
    args = {"q": query, "top": top, "window": window, "sort": listed(sort), "sample": sample,
            "seed": seed, "with": with_, "without": without, "filter": filter,
            "analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad, "threads": threads,
            "memory": memory}  # fmt: skip
    with bar(progress, "reading") as tell:
        ask = _of_index if isinstance(corpus, Index) else build_call
        a = ask("concordance", args, corpus, fields, id_field, format, encoding, tell)
    return Concordance(a)


@renamed(k="top")
def keywords(
    corpus: Corpus | Vocabulary | Index,
    reference: Corpus | Vocabulary | None = None,
    top: int = 20,
    *,
    by: str = "lrc",
    min_count: int = 5,
    negative: bool = False,
    documents: bool = False,
    ngram: int = 1,
    query: str = "",
    against: str = "",
    mode: str = "or",
    docs: int = 100,
    analyzer: str = "unicode",
    stopwords: str = "",
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
    **options: Any,
) -> pd.DataFrame:
    """The words that distinguish a corpus from a reference corpus, as a DataFrame.

    Both may be a corpus or its `Vocabulary` (of all words: min_count=1).
    by: lrc, g2, logratio or diff. negative: list words that are rarer instead.
    documents: compare numbers of documents. ngram: compare sequences of this number of words.
    An `Index` with stored text is asked instead by query: the best `docs` documents for it are
    compared with those for the query `against`, or with all others.
    """
    pd = need("pandas", "pandas")
    args: dict[str, Any] = {"by": by, "top": top, "min_count": min_count, "negative": negative,
                            "documents": documents, "ngram": ngram, "threads": threads,
                            "memory": memory}  # fmt: skip
    read = {"analyzer": analyzer, "stopwords": stopwords, "skip_bad": skip_bad}
    if isinstance(corpus, Index):
        more = {"q": query, "against": against, "mode": mode, "docs": docs}
        if reference is not None:
            raise ValueError("reference=: not with an Index: want against=, another query")
        a = _of_index("keywords", {**args, **read, **more}, corpus, fields, id_field, format,
                      encoding)  # fmt: skip
    elif reference is None:
        raise ValueError("reference=: want a corpus to compare with, or an Index and a query=")
    elif (options or isinstance(corpus, Vocabulary) or isinstance(reference, Vocabulary)
          or (paths_of(corpus) is None) != (paths_of(reference) is None)):  # fmt: skip
        how = {**read, "fields": fields, "id_field": id_field, "format": format,
               "encoding": encoding, "threads": threads, "memory": memory,
               "progress": progress, **options}  # fmt: skip
        totals, arrays = [], {}
        for name, given in (("here", corpus), ("there", reference)):
            v = given if isinstance(given, Vocabulary) else vocabulary(given, **how)
            totals.append(v.tokens or int(v.counts.sum()))
            arrays.update(strings(v.words, name, f"{name}_ends"))
            arrays[f"{name}_counts"] = np.ascontiguousarray(v.counts, dtype=np.int64)
        a = call("keywords", {**args, "totals": totals}, arrays)
    else:
        with as_file(reference, fields, id_field) as path, bar(progress, "counting") as tell:
            args.update(read, q=query, against=against, reference=paths_of(reference) or [path])
            a = _of_files("keywords", args, corpus, fields, id_field, format, encoding, tell)
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


def _measures(
    by: str | Sequence[str], top: int, min_count: float, min_frequency: int, p: bool
) -> dict[str, Any]:
    names = _words(by, "by")
    return {"by": names, "top": top, "min_count": min_count, "min_frequency": min_frequency, "p": p}


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
    a = build_call("count", {"analyzer": analyzer}, corpus, None, None, None, None, tell)
    words = unpack_strings(a.arrays["words"], a.arrays["ends"])
    shape = (a.result["documents"], len(words))
    parts = (a.arrays["counts"], a.arrays["docs"], a.arrays["starts"])
    matrix = sparse.csc_matrix(parts, shape=shape)
    return words, matrix, a.arrays["lengths"]
