"""Collocate finds what belongs together.

Words with documents (search), words with words (co-occurrence), and kinds of places with kinds of
places (co-location). The work is done by a program in this package, which runs as a worker process
beside Python: no port, no server, nothing to configure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from ._worker import shutdown as shutdown
    from .bm25 import BM25 as BM25
    from .errors import CollocateError as CollocateError
    from .errors import CollocateWarning as CollocateWarning
    from .errors import NoGPUError as NoGPUError
    from .errors import WorkerError as WorkerError
    from .evaluation import compare as compare
    from .evaluation import evaluate as evaluate
    from .evaluation import fuse as fuse
    from .evaluation import tune as tune
    from .hits import BatchHits as BatchHits
    from .hits import Concordance as Concordance
    from .hits import Explanation as Explanation
    from .hits import Hit as Hit
    from .hits import Hits as Hits
    from .hits import Snippet as Snippet
    from .index import Index as Index
    from .places import Patterns as Patterns
    from .places import curve as curve
    from .places import enrichment as enrichment
    from .places import mine as mine
    from .places import pairs as pairs
    from .places import summary as summary
    from .remote import Remote as Remote
    from .remote import connect as connect
    from .weights import Weights as Weights
    from .weights import load_npz as load_npz
    from .weights import weighted as weighted
    from .words import Cooccurrence as Cooccurrence
    from .words import Vectors as Vectors
    from .words import Vocabulary as Vocabulary
    from .words import collocations as collocations
    from .words import concordance as concordance
    from .words import cooccurrence as cooccurrence
    from .words import dispersion as dispersion
    from .words import keywords as keywords
    from .words import ngrams as ngrams
    from .words import vocabulary as vocabulary
    from .words import wordlist as wordlist

# Names are imported on first use. The command `collocate` needs none of them, and importing NumPy
# takes longer than running the command.
_WHERE = {
    "BM25": "bm25",
    "BatchHits": "hits",
    "CollocateError": "errors",
    "CollocateWarning": "errors",
    "Concordance": "hits",
    "Cooccurrence": "words",
    "Explanation": "hits",
    "Hit": "hits",
    "Hits": "hits",
    "Index": "index",
    "NoGPUError": "errors",
    "Patterns": "places",
    "Snippet": "hits",
    "Remote": "remote",
    "WorkerError": "errors",
    "Vectors": "words",
    "Vocabulary": "words",
    "Weights": "weights",
    "collocations": "words",
    "compare": "evaluation",
    "concordance": "words",
    "connect": "remote",
    "cooccurrence": "words",
    "curve": "places",
    "dispersion": "words",
    "enrichment": "places",
    "evaluate": "evaluation",
    "fuse": "evaluation",
    "keywords": "words",
    "load_npz": "weights",
    "mine": "places",
    "ngrams": "words",
    "pairs": "places",
    "shutdown": "_worker",
    "summary": "places",
    "tune": "evaluation",
    "vocabulary": "words",
    "weighted": "weights",
    "wordlist": "words",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{where}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
