"""Weighted tokens: texts for indexes with the analyzer impact, and matrices of indexes."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._pipe import dumps, unpack_strings
from .errors import need

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Weights(NamedTuple):
    """How often each document has each word, or the weights of tokens."""

    matrix: csr_matrix  #: documents by tokens
    tokens: list[str]  #: of the columns
    ids: list[str]  #: of the rows


def load_npz(path: str | os.PathLike[str]) -> Weights:
    """Reads a .npz file that `Index.export` or the command `collocate index export` wrote."""
    sparse = need("scipy.sparse", "sparse")
    try:
        with np.load(path, allow_pickle=False) as z:
            a = {name: z[name] for name in z.files}
        tokens, ids = (
            unpack_strings(a["terms"], a["term_ends"]),
            unpack_strings(a["ids"], a["id_ends"]),
        )
        matrix = sparse.csr_matrix((a["data"], a["indices"], a["indptr"]), shape=a["shape"])
        if matrix.shape != (len(ids), len(tokens)):
            raise ValueError(
                f"{len(ids)} IDs and {len(tokens)} tokens for a matrix of {matrix.shape}"
            )
        matrix.check_format()
    except KeyError as e:
        raise ValueError(
            f"{os.fspath(path)}: it has no array {e}: want a file of collocate index export --npz; "
            "weighted(scipy.sparse.load_npz(path), tokens) is for matrices of others"
        ) from None
    except (ValueError, TypeError, zipfile.BadZipFile, EOFError) as e:
        raise ValueError(f"{os.fspath(path)}: {e}") from None
    return Weights(matrix, tokens, ids)


def weighted(vectors: Any, tokens: Sequence[str] | None = None) -> list[str]:
    """The texts of vectors of weighted tokens: documents or queries for the analyzer impact.

    vectors: an iterable whose items are a mapping {token: weight} or a list of (token, weight);
    or a SciPy sparse matrix or array with a row for each vector, and tokens with the name of each
    column; without tokens their numbers are the names; or the `Weights` of `Index.weights` or
    `load_npz`, which have both. Weights of 0 are left out. The same token twice in a vector is a
    ValueError.

    >>> collocate.weighted([[("solar", 187), ("eclipse", 203)]])
    ['{"solar":187,"eclipse":203}']
    """
    if isinstance(vectors, Weights):
        if tokens is not None:
            raise TypeError("tokens: these weights have their own")
        vectors, tokens = vectors.matrix, vectors.tokens
    if hasattr(vectors, "tocsr"):
        return _rows(vectors.tocsr(), tokens)
    if tokens is not None:
        raise TypeError("tokens are the columns of a sparse matrix: other vectors name their own")
    if hasattr(vectors, "columns") or hasattr(vectors, "shape") and len(vectors.shape) == 2:
        raise TypeError("vectors: want a SciPy matrix, as in scipy.sparse.csr_matrix(array)")
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
