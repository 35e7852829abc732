"""Measures of retrieval quality, with the names of ir_measures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._pipe import strings
from ._progress import ProgressOption, bar
from ._worker import call
from .errors import need
from .hits import BatchHits

if TYPE_CHECKING:
    import pandas as pd

    from .index import Index

_PLAIN = {
    "AP": "map", "nDCG": "ndcg", "RR": "recip_rank", "Rprec": "Rprec", "Bpref": "bpref",
    "infAP": "infAP", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    "NumRet": "num_ret", "NumRel": "num_rel", "NumQ": "num_q",
}  # fmt: skip
_CUT = {"P": "P", "R": "recall", "nDCG": "ndcg_cut", "AP": "map_cut", "Success": "success"}
_NAME = re.compile(r"([A-Za-z]+)(?:\(rel=(\d+)\))?(?:@([0-9.]+))?")


def _measure(name: str) -> dict[str, Any]:
    """trec_eval's name of a measure, the least relevant grade, and how deep to look."""
    m = _NAME.fullmatch(name.replace(" ", ""))
    if m:
        base, rel, cut = m[1], int(m[2] or 1), m[3]
        if cut is None and base in _PLAIN:
            if base == "NumRet" and m[2]:
                return {"name": "num_rel_ret", "level": rel, "depth": 0}
            return {"name": _PLAIN[base], "level": rel, "depth": 0}
        if cut is not None and base == "IPrec":
            return {"name": f"iprec_at_recall_{float(cut):.2f}", "level": rel, "depth": 0}
        if cut is not None and cut.isdigit():
            if base in _CUT:
                return {"name": f"{_CUT[base]}.{cut}", "level": rel, "depth": 0}
            if base == "RR":
                return {"name": "recip_rank", "level": rel, "depth": int(cut)}
    raise ValueError(
        f"unknown measure {name!r}: want {', '.join(sorted(_PLAIN))}, IPrec@r, "
        f"RR@k, {', '.join(f'{n}@k' for n in sorted(_CUT))}, each also as in P(rel=2)@5"
    )


def evaluate(
    run: Any,
    qrels: Any,
    measures: str | Iterable[Any],
    *,
    per_query: bool = False,
    judged_only: bool = False,
    complete: bool = True,
) -> dict[str, Any]:
    """Evaluates a run against judgments, as `calc_aggregate` of ir_measures does.

    run: what `search` found for a mapping {query ID: query}; {query: {document: score}}; a
        DataFrame with the columns query_id (or qid, query), doc_id (or docno, id) and score; or an
        iterable of (query, document, score).
    qrels: the same with a grade, relevance (or label, grade), instead of the score.
    measures: names such as "nDCG@10", "AP", "RR@10" and "P(rel=2)@5", or ir_measures' objects.
    per_query: return the values of each query, {measure: {query: value}}.
    judged_only: ignore answers without a judgment.
    complete: average over all judged queries, also those without answers.
    """
    names, args, arrays = _judged({"run": run}, qrels, measures)
    answer = call("evaluate", {**args, "judged_only": judged_only, "complete": complete}, arrays)
    if per_query:
        ids = answer.result["topics"]
        values = answer.arrays["values"].tolist()
        return {n: dict(zip(ids, v)) for n, v in zip(names, values)}
    return dict(zip(names, answer.arrays["all"].tolist()))


def compare(
    run: Any,
    other: Any,
    qrels: Any,
    measures: str | Iterable[Any],
    *,
    judged_only: bool = False,
    complete: bool = True,
) -> pd.DataFrame:
    """Compares two runs, with a row for each measure.

    Columns a and b are the means of the runs over the queries that both answer, diff is b - a,
    better and worse are numbers of queries, t and p_t those of Student's paired test, p_random the
    p-value of Fisher's randomisation test. Arguments are as for `evaluate`.
    """
    pd = need("pandas", "pandas")
    names, args, arrays = _judged({"run": run, "other": other}, qrels, measures)
    answer = call("compare", {**args, "judged_only": judged_only, "complete": complete}, arrays)
    table = pd.DataFrame(answer.result["compare"])
    table["measure"] = names
    return table


def fuse(
    runs: Iterable[Any],
    by: str = "rrf",
    *,
    k: float = 60,
    weights: Iterable[float] = (),
    depth: int = 0,
    top: int = 1000,
) -> dict[str, dict[str, float]]:
    """Makes one run of several, {query: {document: score}}, best first.

    runs: two or more, each as for `evaluate`.
    by: rrf (reciprocal ranks, with the constant k), combsum and combmnz (scores scaled to 0 to 1 in
        each query), zscore (scores above the lowest, in standard deviations) or borda.
    weights: of the runs. depth: use only this many answers of each query of a run; 0 means all.
    top: how many answers a query keeps; 0 means all.
    """
    topics: dict[str, int] = {}
    arrays: dict[str, np.ndarray] = {}
    number = 0
    for number, run in enumerate(runs, 1):
        rows = run.to_run() if isinstance(run, BatchHits) else run
        arrays.update(_rows(rows, f"run{number - 1}", topics))
    args = {"by": by, "k": k, "weights": list(weights), "depth": depth, "top": top,
            "topics": list(topics), "runs": number}  # fmt: skip
    found = call("fuse", args, arrays).table("rows")
    fused: dict[str, dict[str, float]] = {topic: {} for topic in topics}
    names = list(topics)
    for topic, doc, score in zip(found["topic"].tolist(), found["doc"], found["score"].tolist()):
        fused[names[topic]][doc] = score
    return fused


def tune(
    index: Index,
    topics: Mapping[str, str],
    qrels: Any,
    measure: Any = "nDCG@10",
    *,
    model: str = "bm25",
    k1: str | Iterable[float] = "",
    b: str | Iterable[float] = "",
    mu: str | Iterable[float] = "",
    variant: str = "papers",
    field_weights: str = "",
    mode: str = "or",
    folds: int = 5,
    k: int = 1000,
    threads: int = 0,
    progress: ProgressOption = None,
) -> dict[str, Any]:
    """Chooses the parameters of a model by judgments, with cross-validation by topics.

    topics: {query ID: text}. qrels, measure: as for `evaluate`.
    k1, b, mu: values to try, [0.9, 1.2], "0.6..2" or "0.6..2:0.2"; without any, those of
        `collocate tune` for bm25 and dirichlet. folds: the parameters for each part of the topics
        are chosen by the others. k: answers of each topic.
    The result has "best" and "default" (model, parameters, value over all topics), "cross_validated"
    (the default as a against the parameters chosen without the topic as b, with paired tests as in
    `compare`), and the DataFrames "grid" and "folds".
    """
    pd = need("pandas", "pandas")
    how = _measure(str(measure))
    numbers: dict[str, int] = {}
    arrays = _rows(qrels, "qrels", numbers)
    args: dict[str, Any] = {
        "queries": {str(q): text for q, text in topics.items()}, "topics": list(numbers),
        "measure": how["name"], "level": how["level"], "depth": how["depth"], "model": model,
        "variant": variant, "field_weights": field_weights, "mode": mode, "folds": folds, "k": k,
        "threads": threads,
    }  # fmt: skip
    if model not in ("bm25", "bm25f") and variant == "papers":
        del args["variant"]
    for name, values in (("k1", k1), ("b", b), ("mu", mu)):
        text = values if isinstance(values, str) else ",".join(str(float(x)) for x in values)
        if text:
            args[name] = text
    with bar(progress, "tuning") as tell:
        w, number = index._handle()
        a = call("tune", {"index": number, **args}, arrays, on=w, progress=tell)
    tables = {n: pd.DataFrame(a.table(n)) for n in ("grid", "folds")}
    tables["grid"].columns = [c.rpartition("/")[2] for c in tables["grid"].columns]
    return {**a.result, **tables}


def _judged(
    runs: dict[str, Any], qrels: Any, measures: str | Iterable[Any]
) -> tuple[list[str], dict[str, Any], dict[str, np.ndarray]]:
    """Names of measures, and the arguments and arrays of runs with judgments."""
    names = [measures] if isinstance(measures, str) else [str(m) for m in measures]
    wanted = [_measure(n) for n in names]
    topics: dict[str, int] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, run in runs.items():
        arrays.update(_rows(run.to_run() if isinstance(run, BatchHits) else run, name, topics))
    arrays.update(_rows(qrels, "qrels", topics))
    return names, {"topics": list(topics), "measures": wanted}, arrays


_QUERIES = ("query_id", "qid", "query", "topic")
_DOCS = ("doc_id", "docno", "docid", "id", "document")
_VALUES = {
    "run": ("score", "value"),
    "other": ("score", "value"),
    "qrels": ("relevance", "label", "grade", "rel", "score", "value"),
}


def _rows(table: Any, name: str, topics: dict[str, int]) -> dict[str, np.ndarray]:
    queries: list[Any]
    docs: list[Any]
    values: Any
    if isinstance(table, Mapping):
        queries, docs, values = [], [], []
        for q, found in table.items():
            if not isinstance(found, Mapping):
                kind = type(found).__name__
                raise TypeError(f"{name}: query {q!r} has a {kind}: want {{document: number}}")
            queries += [q] * len(found)
            docs += list(found)
            values += list(found.values())
    elif hasattr(table, "columns"):
        queries, docs, values = (
            table[_column(table, names, name)].tolist()
            for names in (_QUERIES, _DOCS, _VALUES.get(name, _VALUES["run"]))
        )
    else:
        queries, docs, values = _listed(table, name)
    _check(queries, docs, values, name)
    numbers = [topics.setdefault(str(q), len(topics)) for q in queries]
    return {
        f"{name}_topics": np.array(numbers, dtype=np.int32),
        **strings([str(d) for d in docs], f"{name}_docs", f"{name}_ends"),
        f"{name}_values": np.array(values, dtype=np.float64),
    }


def _listed(table: Any, name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The columns of rows (query, document, number)."""
    if isinstance(table, (str, bytes)) or not hasattr(table, "__iter__"):
        raise TypeError(
            f"{name} is of type {type(table).__name__}: want {{query: {{document: number}}}}, "
            "a DataFrame, or rows (query, document, number)"
        )
    rows = []
    for i, row in enumerate(table):
        if hasattr(row, "_asdict"):  # ir_datasets' judgments have more columns
            row = tuple(row)[:3]
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 3:
            raise ValueError(f"{name}: row {i} is {row!r}: want (query, document, number)")
        rows.append(row)
    columns = [list(c) for c in zip(*rows)] or [[], [], []]
    return columns[0], columns[1], columns[2]


def _check(queries: list[Any], docs: list[Any], values: list[Any], name: str) -> None:
    """Refuses rows that would count as others, or not at all."""
    seen: dict[tuple[Any, Any], Any] = {}
    for q, d, v in zip(queries, docs, values):
        row = f"{name}: query {q!r}, document {d!r}"
        if q is None or q != q or d is None or d != d:
            raise ValueError(f"{row}: has no ID")
        try:
            number = float(v)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or name == "qrels" and number != int(number):
            want = "whole number" if name == "qrels" else "number"
            raise ValueError(f"{row}: {v!r}: want a {want}")
        if seen.setdefault((q, d), v) != v:
            raise ValueError(f"{row}: is there twice, with {seen[q, d]!r} and {v!r}")


def _column(table: Any, names: Iterable[str], what: str) -> Any:
    for n in names:
        if n in table.columns:
            return n
    raise ValueError(f"{what}: has the columns {list(table.columns)}; want one of {list(names)}")
