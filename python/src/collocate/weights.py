"""Weighted tokens, as texts for indexes with the analyzer impact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._pipe import dumps


def weighted(vectors: Any, tokens: Sequence[str] | None = None) -> list[str]:
    """The texts of vectors of weighted tokens: documents or queries for the analyzer impact.

    vectors: an iterable whose items are a mapping {token: weight} or a list of (token, weight);
    or a SciPy sparse matrix or array with a row for each vector, and tokens with the name of each
    column; without tokens their numbers are the names. Weights of 0 are left out. The same token
    twice in a vector is a ValueError.

    >>> collocate.weighted([[("solar", 187), ("eclipse", 203)]])
    ['{"solar":187,"eclipse":203}']
    """
    if hasattr(vectors, "tocsr"):
        return _rows(vectors.tocsr(), tokens)
    if tokens is not None:
        raise TypeError("tokens are the columns of a sparse matrix: other vectors name their own")
    if isinstance(vectors, (str, bytes, Mapping)):
        raise TypeError("vectors: want several, as in [vector]")
    return [_text(v.items() if isinstance(v, Mapping) else v) for v in vectors]


def _rows(matrix: Any, tokens: Sequence[str] | None) -> list[str]:
    """The texts of the rows of a CSR matrix."""
    if tokens is not None and len(tokens) != matrix.shape[1]:
        raise ValueError(f"{len(tokens)} tokens for {matrix.shape[1]} columns")
    names = tokens if tokens is not None else [str(i) for i in range(matrix.shape[1])]
    ends, columns, weights = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    return [
        _text((names[columns[i]], weights[i]) for i in range(first, last))
        for first, last in zip(ends, ends[1:])
    ]


def _text(pairs: Iterable[tuple[str, Any]]) -> str:
    vector: dict[str, Any] = {}
    for token, weight in pairs:
        if not isinstance(token, str):
            raise TypeError(f"token {token!r}: want a str")
        if token in vector:
            raise ValueError(f"token {token!r} is twice in a vector")
        vector[token] = weight.item() if hasattr(weight, "item") else weight
    return dumps({token: w for token, w in vector.items() if w != 0})
