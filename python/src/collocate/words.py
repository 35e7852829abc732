"""Words with words: vocabularies and co-occurrence."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._documents import Corpus
from ._pipe import unpack_strings
from ._progress import ProgressOption, bar
from ._worker import call
from .hits import _table
from .index import build_call

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix


class Vocabulary:
    """Words with their counts, most frequent first."""

    def __init__(self, words: list[str], counts: np.ndarray, tokens: int = 0):
        self.words = words
        self.counts = counts
        self.tokens = tokens  # all words of the corpus, also those that were left out
        self._ids: dict[str, int] | None = None

    @property
    def ids(self) -> dict[str, int]:
        """The place of each word."""
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
        import pandas as pd

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
    min_count: int = 1,
    max_size: int = 0,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> Vocabulary:
    """Counts the words of documents. The corpus is as in `Index.build`."""
    args = {"analyzer": analyzer, "min_count": min_count, "max_size": max_size,
            "threads": threads, "memory": memory}  # fmt: skip
    with bar(progress, "counting") as tell:
        a = build_call(
            "vocabulary", args, corpus, fields, id_field, format, encoding, tell
        )  # fmt: skip
    words = unpack_strings(a.arrays["words"], a.arrays["ends"])
    return Vocabulary(words, a.arrays["counts"], a.result["words"])


class Cooccurrence:
    """How often words meet: a matrix over a vocabulary, in a .cooc file."""

    def __init__(self, path: str | os.PathLike[str], *, _temporary: bool = False):
        self.path = os.path.abspath(os.fspath(path))
        a = call("matrix words", {"path": self.path})
        words = unpack_strings(a.arrays["words"], a.arrays["ends"])
        self.vocabulary = Vocabulary(words, a.arrays["counts"])
        self.entries: int = a.result["entries"]
        if _temporary:
            weakref.finalize(self, _remove_file, self.path, os.getpid())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Cooccurrence:
        """Opens a .cooc file, as the command `collocate cooccur` writes it, too."""
        return cls(path)

    @property
    def words(self) -> list[str]:
        return self.vocabulary.words

    def matrix(self, by: str = "value", min_value: float = 0) -> csr_matrix:
        """The matrix as scipy.sparse has it; rows and columns are `words`.

        by: value (the sums), pmi, ppmi, npmi, ll (log-likelihood) or dice.
        """
        from scipy.sparse import csr_matrix

        a = call("matrix", {"path": self.path, "by": by, "min_value": min_value}).arrays
        n = len(self.words)
        return csr_matrix((a["values"], a["columns"], a["starts"]), shape=(n, n))

    def neighbours(
        self, words: str | Sequence[str], k: int = 10, *, by: str = "npmi", min_value: float = 0
    ) -> pd.DataFrame:
        """The k words that keep the closest company with each word, as a DataFrame.

        min_value leaves out pairs that meet less often: rare meetings make PMI large.
        """
        import pandas as pd

        listed = [words] if isinstance(words, str) else list(words)
        args = {"path": self.path, "by": by, "words": listed, "k": k, "min_value": min_value}
        found = call("neighbours", args).result
        table = pd.DataFrame(found, columns=["of", "word", "value", "score"])
        return table if not isinstance(words, str) else table.drop(columns="of")

    def __repr__(self) -> str:
        return f"<Cooccurrence: {len(self.words):,} words, {self.entries:,} entries>"


def cooccurrence(
    corpus: Corpus,
    path: str | os.PathLike[str] | None = None,
    *,
    window: int = 15,
    side: str = "both",
    weighting: str = "distance",
    analyzer: str = "unicode",
    min_count: int = 1,
    max_size: int = 0,
    subsample: float = 0,
    seed: int = 1,
    fields: Sequence[str] | None = None,
    id_field: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    threads: int = 0,
    memory: int = 0,
    progress: ProgressOption = None,
) -> Cooccurrence:
    """Counts how often words meet, in the .cooc file `path` or in one that is removed later.

    window: words on each side; 0 is the whole document.
    weighting: what a meeting adds: "distance" is 1/distance, "count" is 1.
    """
    out = path
    if out is None:
        handle, out = tempfile.mkstemp(prefix="collocate-", suffix=".cooc")
        os.close(handle)
    args = {
        "out": os.path.abspath(out), "window": window, "side": side, "weighting": weighting,
        "analyzer": analyzer, "min_count": min_count, "max_size": max_size,
        "subsample": subsample, "seed": seed, "threads": threads, "memory": memory,
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


def _remove_file(path: str, pid: int) -> None:
    if os.getpid() == pid and os.path.exists(path):  # not in a forked child
        os.unlink(path)


def counts(corpus: Any, analyzer: str, tell: Any = None) -> tuple[list[str], Any, np.ndarray]:
    """Words in byte order, how often documents have them as a sparse matrix, and lengths."""
    from scipy.sparse import csc_matrix

    a = build_call("count", {"analyzer": analyzer}, corpus, None, None, None, None, tell)
    words = unpack_strings(a.arrays["words"], a.arrays["ends"])
    shape = (a.result["documents"], len(words))
    matrix = csc_matrix((a.arrays["counts"], a.arrays["docs"], a.arrays["starts"]), shape=shape)
    return words, matrix, a.arrays["lengths"]
