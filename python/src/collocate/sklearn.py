"""Transformers for scikit-learn."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .words import counts


class BM25Vectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Documents as sparse vectors of BM25 weights; in pipelines in place of TfidfVectorizer.

    A word's weight in a document is

        idf * (k1+1)*tf / (tf + k1*(1 - b + b*length/mean length))

    with idf = ln(1 + (N - df + 0.5)/(df + 0.5)). N, df and the mean length are those of the
    documents that it was fitted to. min_df leaves out words in fewer documents, max_df those in
    more: an int is a number of documents, a float a share of them. max_features keeps the words
    with the highest document frequency. norm="l2" scales vectors to length 1.
    """

    def __init__(
        self,
        *,
        analyzer: str = "unicode",
        k1: float = 1.2,
        b: float = 0.75,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        norm: str | None = None,
    ):
        self.analyzer = analyzer
        self.k1 = k1
        self.b = b
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.norm = norm

    def fit(self, raw_documents: Iterable[str], y: Any = None) -> BM25Vectorizer:
        """Learns the vocabulary, document frequencies and mean length of documents."""
        self._fit(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Fits to documents and returns their vectors, one row per document."""
        return self._weigh(*self._fit(raw_documents))

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """The vectors of documents, one row each; unknown words are left out."""
        check_is_fitted(self, "idf_")
        words, matrix, lengths = counts(_listed(raw_documents), self.analyzer)
        known = [(i, self.vocabulary_[w]) for i, w in enumerate(words) if w in self.vocabulary_]
        coo = matrix[:, [i for i, _ in known]].tocoo()
        columns = np.array([j for _, j in known], dtype=np.int64)[coo.col]
        shape = (matrix.shape[0], len(self.idf_))
        return self._weigh(sparse.csr_matrix((coo.data, (coo.row, columns)), shape=shape), lengths)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words of the columns."""
        check_is_fitted(self, "idf_")
        return np.array(self._words, dtype=object)

    def _fit(self, raw_documents: Iterable[str]) -> tuple[Any, np.ndarray]:
        if self.norm not in (None, "l1", "l2"):
            raise ValueError(f"norm={self.norm!r}: want None, 'l1' or 'l2'")
        words, matrix, lengths = counts(_listed(raw_documents), self.analyzer)
        df = np.diff(matrix.indptr)
        least = _documents(self.min_df, "min_df", matrix.shape[0])
        most = _documents(self.max_df, "max_df", matrix.shape[0])
        keep = np.flatnonzero((df >= least) & (df <= most))
        if self.max_features is not None and len(keep) > self.max_features:
            order = np.argsort(-df[keep], kind="stable")[: self.max_features]
            keep = np.sort(keep[order])
        if len(words) != len(keep):
            matrix, df = matrix[:, keep], df[keep]
        if not len(keep):
            raise ValueError("no words are left: check min_df, max_df and the documents")
        self._words = [words[i] for i in keep]
        self.vocabulary_: dict[str, int] = {w: i for i, w in enumerate(self._words)}
        n = matrix.shape[0]
        self.idf_: np.ndarray = np.log1p((n - df + 0.5) / (df + 0.5))
        self.mean_length_: float = float(lengths.mean()) if n else 0.0
        return matrix.tocsr(), lengths

    def _weigh(self, tf: Any, lengths: np.ndarray) -> sparse.csr_matrix:
        mean = self.mean_length_ or 1.0
        norms = self.k1 * (1 - self.b + self.b * lengths / mean)
        tf = tf.tocsr()
        rows = np.repeat(np.arange(tf.shape[0]), np.diff(tf.indptr))
        data = tf.data.astype(np.float64)
        data = self.idf_[tf.indices] * data * (self.k1 + 1) / (data + norms[rows])
        out = sparse.csr_matrix((data.astype(np.float32), tf.indices, tf.indptr), shape=tf.shape)
        out.sort_indices()
        if self.norm is None:
            return out
        from sklearn.preprocessing import normalize

        return normalize(out, norm=self.norm)


def _listed(raw_documents: Any) -> list[str]:
    if isinstance(raw_documents, str):
        raise ValueError("documents are a str: want an iterable of str")
    listed = list(raw_documents)
    for i, d in enumerate(listed):
        if not isinstance(d, str):
            raise ValueError(f"document {i} is of type {type(d).__name__}: want a str")
    return listed


def _documents(bound: int | float, name: str, n: int) -> float:
    """A number of documents, of which a share may be given."""
    if isinstance(bound, numbers.Integral) and bound >= 0:
        return int(bound)
    if not isinstance(bound, numbers.Integral) and 0 <= bound <= 1:
        return bound * n
    raise ValueError(f"{name}={bound}: want a number of documents, or a share from 0.0 to 1.0")
