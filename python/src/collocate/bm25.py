"""BM25 with the interface of bm25s: `index` and `retrieve`.

    import collocate.bm25 as bm25s

    corpus_tokens = bm25s.tokenize(corpus, stopwords="en", stemmer="english")
    retriever = bm25s.BM25()
    retriever.index(corpus_tokens)
    results, scores = retriever.retrieve(bm25s.tokenize(query, stemmer="english"), k=2)

Text is split by Collocate's analyzers, so some tokens differ from those of bm25s. A stemmer is
named by its language, and also drops stop words. Results of queries with fewer than k matching
documents are padded with -1, or with None if there is a corpus.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._progress import ProgressOption
from .index import Index

_VARIANTS = {"lucene": "lucene", "atire": "atire", "bm25+": "bm25+", "bm25l": "bm25l"}
_DELTAS = {"bm25l": 0.5, "bm25+": 1.0}
_LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
              "nl": "dutch", "pt": "portuguese", "sv": "swedish", "no": "norwegian",
              "da": "danish", "fi": "finnish", "ru": "russian", "tr": "turkish"}  # fmt: skip


class Tokenized(NamedTuple):
    """Texts, and the analyzer that splits them when they are indexed or searched."""

    texts: Sequence[str]
    analyzer: str


class Results(NamedTuple):
    """The result of `retrieve`: documents and scores, arrays with a row for each query."""

    documents: np.ndarray
    scores: np.ndarray


def tokenize(
    texts: str | Iterable[str],
    stopwords: str | None = None,
    stemmer: str | None = None,
    **_shown: Any,
) -> Tokenized:
    """Chooses the analyzer for texts. They are split later, while indexing.

    Without a stemmer, text is split by Unicode's rules, in lower case. With one, a language such as
    "english", words are stemmed, and stop words are dropped unless stopwords is "".
    """
    if not hasattr(texts, "__iter__"):
        raise TypeError(f"texts are of type {type(texts).__name__}: want an iterable of str")
    listed = [texts] if isinstance(texts, str) else list(texts)
    unknown = set(_shown) - {"show_progress", "leave", "lower", "return_ids"}
    if unknown:
        raise TypeError(f"tokenize has no argument {', '.join(sorted(unknown))}")
    if stemmer is None:
        if stopwords:
            raise ValueError(
                f'stopwords={stopwords!r} needs a stemmer of the same language: stemmer="english"'
            )
        return Tokenized(listed, "unicode")
    if not isinstance(stemmer, str):
        raise TypeError('stemmer is the name of a language: stemmer="english"')
    language = _LANGUAGES.get(stemmer, stemmer)
    if stopwords and _LANGUAGES.get(stopwords, stopwords) != language:
        raise ValueError(f"stopwords={stopwords!r} and stemmer={stemmer!r} are different languages")
    return Tokenized(listed, language if stopwords == "" else language + "+stop")


class BM25:
    """An index with BM25's parameters. delta is fixed: 0.5 for bm25l, 1 for bm25+."""

    def __init__(
        self,
        k1: float = 1.5,
        b: float = 0.75,
        delta: float | None = None,
        method: str = "lucene",
        corpus: Sequence[Any] | None = None,
    ):
        if method not in _VARIANTS:
            raise ValueError(f"method={method!r}: want one of {', '.join(_VARIANTS)}")
        fixed = _DELTAS.get(method)
        if delta is not None and fixed is not None and delta != fixed:
            raise ValueError(f"delta={delta}: {method} only has {fixed}")
        self.k1: float = k1
        self.b: float = b
        self.method: str = method
        self.corpus: Sequence[Any] | None = corpus
        self.searcher: Index | None = None

    def index(
        self, corpus: Tokenized | Iterable[Any], show_progress: ProgressOption = None, **_: Any
    ) -> None:
        """Indexes the result of `tokenize`, texts, or lists of words."""
        texts, analyzer = _texts(corpus)
        self.searcher = Index.build(texts, analyzer=analyzer, progress=show_progress)

    def retrieve(
        self,
        query_tokens: Tokenized | Iterable[Any],
        corpus: Sequence[Any] | None = None,
        k: int = 10,
        return_as: str = "tuple",
        show_progress: ProgressOption = None,
        n_threads: int = 0,
        **_: Any,
    ) -> Any:
        """The k best documents of each query: arrays with a row for each query.

        Documents are their numbers, or entries of the corpus if there is one.
        """
        if self.searcher is None:
            raise ValueError("there is no index yet: call index first")
        queries, _analyzer = _texts(query_tokens)
        found = self.searcher.search(
            queries, k=k, k1=self.k1, b=self.b, variant=_VARIANTS[self.method],
            threads=max(0, n_threads), progress=show_progress,
        )  # fmt: skip
        docs, scores = found.matrix()
        corpus = self.corpus if corpus is None else corpus
        if corpus is not None:
            if len(corpus) != len(self.searcher):
                raise ValueError(
                    f"the corpus has {len(corpus)} entries, "
                    f"the index {len(self.searcher)} documents"
                )
            entries = np.empty(len(corpus) + 1, dtype=object)
            entries[:-1] = corpus  # the last, for -1, is None
            docs = entries[docs]
        if return_as == "documents":
            return docs
        if return_as != "tuple":
            raise ValueError(f'return_as={return_as!r}: want "tuple" or "documents"')
        return Results(docs, scores)

    def get_scores(self, query_tokens_single: Sequence[str] | str) -> np.ndarray:
        """The score of every document for one query, given as text or as a list of words."""
        if self.searcher is None:
            raise ValueError("there is no index yet: call index first")
        text = _texts([query_tokens_single])[0][0]
        scores = np.zeros(len(self.searcher), dtype=np.float32)
        if len(scores):
            found = self.searcher.search(
                text, k=len(scores), k1=self.k1, b=self.b, variant=_VARIANTS[self.method]
            )
            scores[found.docs] = found.scores
        return scores

    def save(self, save_dir: str | os.PathLike[str], corpus: Sequence[Any] | None = None) -> None:
        """Saves the index, with the corpus if there is one, to a folder."""
        if self.searcher is None:
            raise ValueError("there is no index yet: call index first")
        os.makedirs(save_dir, exist_ok=True)
        to = os.path.join(save_dir, "index")
        if os.path.abspath(to) != self.searcher.path:
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(self.searcher.path, to)
        with open(os.path.join(save_dir, "params.json"), "w", encoding="utf-8") as f:
            json.dump({"k1": self.k1, "b": self.b, "method": self.method}, f)
        corpus = self.corpus if corpus is None else corpus
        if corpus is not None:
            with open(os.path.join(save_dir, "corpus.jsonl"), "w", encoding="utf-8") as f:
                for entry in corpus:
                    f.write(json.dumps(entry, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, save_dir: str | os.PathLike[str], load_corpus: bool = False, **_: Any) -> BM25:
        """Opens an index that `save` wrote."""
        with open(os.path.join(save_dir, "params.json"), encoding="utf-8") as f:
            made = cls(**json.load(f))
        made.searcher = Index.open(os.path.join(save_dir, "index"))
        path = os.path.join(save_dir, "corpus.jsonl")
        if load_corpus and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                made.corpus = [json.loads(line) for line in f]
        return made


def _texts(given: Tokenized | Iterable[Any]) -> tuple[list[str], str]:
    if isinstance(given, Tokenized):
        return list(given.texts), given.analyzer
    if not hasattr(given, "__iter__"):
        raise TypeError(f"texts are of type {type(given).__name__}: want str, or lists of words")
    listed = [given] if isinstance(given, str) else list(given)
    if listed and isinstance(listed[0], (list, tuple, np.ndarray)):
        return [_joined(words, i) for i, words in enumerate(listed)], "whitespace"
    return listed, "unicode"


def _joined(words: Any, number: int) -> str:
    """Words as a text that is split at blanks."""
    if isinstance(words, str):
        raise TypeError(f"text {number} is a str, but those before it are lists of words")
    try:
        text = " ".join(words)
    except TypeError:
        raise TypeError(f"text {number}: its words are not all str; tokenize makes them") from None
    if len(text.split()) != len(words):
        raise ValueError(f"text {number}: words have no blanks inside, and are not empty")
    return text
