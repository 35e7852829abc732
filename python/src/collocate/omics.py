"""Statistics of spatial omics on AnnData, with the argument names of squidpy.

    from collocate.omics import co_occurrence, nhood_enrichment, ripley

Results go to `adata.uns` under squidpy's names, so that its plots show them; copy=True returns them
instead. Categories keep the order of their column. engine is "auto", "sequential",
"multicore" or "gpu"; all give the same result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._progress import ProgressOption, bar
from ._worker import call
from .errors import need


class NhoodEnrichmentResult(NamedTuple):
    """z-scores and counts, by category and category of neighbours."""

    zscore: np.ndarray
    counts: np.ndarray


def co_occurrence(
    adata: Any,
    cluster_key: str,
    spatial_key: str = "spatial",
    interval: int | Any = 50,
    copy: bool = False,
    *,
    engine: str = "auto",
    threads: int = 0,
) -> tuple[np.ndarray, np.ndarray] | None:
    """How much more often than by chance categories occur within each distance of each other.

    interval: distances, of which the first is only a lower bound; or their number, evenly spaced
        from 0 to half the diagonal of the area (squidpy's begin a little above 0). Evenly spaced
        distances from 0 are counted in one pass, others one by one.
    Returns (occ, interval), or stores them in adata.uns["{cluster_key}_co_occurrence"]: occ is an
    array by category, category and distance.
    """
    args, arrays, order = _cells(adata, cluster_key, spatial_key)
    if isinstance(interval, (int, np.integer)):
        width, height = np.ptp(arrays["x"]), np.ptp(arrays["y"])
        bounds = np.linspace(0, float(np.hypot(width, height)) / 2, int(interval))
    else:
        bounds = np.sort(np.asarray(interval, dtype=np.float64))
    if len(bounds) < 2:
        raise ValueError(f"interval has {len(bounds)} distances: want at least 2")
    steps = len(bounds) - 1
    if np.allclose(bounds, np.linspace(0, bounds[-1], len(bounds)), rtol=1e-12, atol=0):
        parts = [(float(bounds[-1]), steps)]
    else:
        parts = [(float(d), 1) for d in bounds[1:]]
    found = []
    for most, many in parts:
        a = call("co-occurrence", {**args, "max_distance": most, "steps": many,
                                   "engine": engine, "threads": threads}, arrays)  # fmt: skip
        found.append(a.arrays["ratio"])
    occ = np.nan_to_num(np.concatenate(found, axis=2))[np.ix_(order, order)]
    if copy:
        return occ, bounds
    adata.uns[f"{cluster_key}_co_occurrence"] = {"occ": occ, "interval": bounds}
    return None


def nhood_enrichment(
    adata: Any,
    cluster_key: str,
    connectivity_key: str | None = None,
    n_perms: int = 1000,
    seed: int | None = None,
    copy: bool = False,
    *,
    n_neighs: int | None = None,
    radius: float | None = None,
    spatial_key: str = "spatial",
    engine: str = "auto",
    threads: int = 0,
    progress: ProgressOption = None,
) -> NhoodEnrichmentResult | None:
    """How many neighbours categories have in each other, compared with random labels (z-scores).

    Neighbours are those of the graph adata.obsp[connectivity_key], "spatial_connectivities" unless
    it is named; or, without a graph, the n_neighs nearest cells, or those within a radius.
    Returns (zscore, counts), or stores them in adata.uns["{cluster_key}_nhood_enrichment"].
    """
    args, arrays, order = _cells(adata, cluster_key, spatial_key)
    if n_neighs is not None or radius is not None:
        args |= {"knn": int(n_neighs or 0), "distance": float(radius or 0)}
    else:
        key = connectivity_key or "spatial_connectivities"
        if key not in adata.obsp:
            raise KeyError(
                f"obsp has no graph {key!r}: pass n_neighs=6 or radius=..., "
                "or make one with squidpy.gr.spatial_neighbors"
            )
        graph = adata.obsp[key].tocsr()
        arrays = {
            "start": graph.indptr.astype(np.int64),
            "to": graph.indices.astype(np.int32),
            "label": arrays["feature"],
        }
    args |= {"rounds": n_perms, "seed": 1 if seed is None else seed}
    args |= {"engine": engine, "threads": threads}
    with bar(progress, "relabelling", "rounds") as tell:
        found = call("enrichment", args, arrays, progress=tell).arrays
    pick = np.ix_(order, order)
    result = NhoodEnrichmentResult(found["z"][pick], found["counts"][pick])
    if copy:
        return result
    adata.uns[f"{cluster_key}_nhood_enrichment"] = {
        "zscore": result.zscore, "count": result.counts
    }  # fmt: skip
    return None


def ripley(
    adata: Any,
    cluster_key: str,
    mode: str = "L",
    spatial_key: str = "spatial",
    max_dist: float | None = None,
    n_steps: int = 50,
    copy: bool = False,
    *,
    engine: str = "auto",
    threads: int = 0,
) -> dict[str, Any] | None:
    """Ripley's L of the cells of each category, by distance; by chance, L equals the distance.

    Only mode "L". Values differ from squidpy's: edges have the translation correction, and the
    density is that of the category, not of all cells. `collocate.curve` has envelopes and pairs.
    Returns {"L_stat": DataFrame, "bins": distances}, or stores it in adata.uns.
    """
    pd = need("pandas", "pandas")
    if mode != "L":
        raise ValueError(f'mode={mode!r}: there is only "L"')
    args, arrays, order = _cells(adata, cluster_key, spatial_key)
    names = args["features"]
    args |= {"max_distance": float(max_dist or 0), "steps": n_steps, "rounds": 0,
             "engine": engine, "threads": threads}  # fmt: skip
    found = call("curve", {**args, "of": names, "near": names}, arrays).arrays
    alone = np.flatnonzero(found["a"] == found["b"])
    alone = alone[np.argsort(found["a"][alone])][order]  # in the order of the categories
    bins = found["distance"][:n_steps]
    values = found["l"].reshape(-1, n_steps)[alone]
    table = pd.DataFrame(
        {
            "bins": np.tile(bins, len(order)),
            cluster_key: pd.Categorical.from_codes(
                np.repeat(np.arange(len(order)), n_steps), [names[i] for i in order]
            ),
            "stats": values.ravel(),
        }
    )
    result = {"L_stat": table, "bins": bins}
    if copy:
        return result
    adata.uns[f"{cluster_key}_ripley_L"] = result
    return None


def _cells(adata: Any, cluster_key: str, spatial_key: str) -> tuple[dict[str, Any], Any, Any]:
    """Arguments and arrays of cells, and the places of the categories among the sorted names."""
    if cluster_key not in adata.obs:
        raise KeyError(f"obs has no column {cluster_key!r}: it has {list(adata.obs.columns)}")
    if spatial_key not in adata.obsm:
        raise KeyError(f"obsm has no {spatial_key!r}: it has {list(adata.obsm)}")
    labels = adata.obs[cluster_key]
    if labels.isna().any():
        raise ValueError(f"cell {int(np.argmax(labels.isna()))}: has no {cluster_key}")
    category = labels.astype("category")
    used = category.cat.remove_unused_categories()
    names = [str(c) for c in used.cat.categories]
    # The program sorts names by their bytes.
    by_bytes = sorted(range(len(names)), key=lambda i: names[i].encode())
    place = np.empty(len(names), dtype=np.int32)
    place[by_bytes] = np.arange(len(names), dtype=np.int32)
    positions = np.asarray(adata.obsm[spatial_key], dtype=np.float64)
    arrays = {
        "x": np.ascontiguousarray(positions[:, 0]),
        "y": np.ascontiguousarray(positions[:, 1]),
        "feature": place[used.cat.codes.to_numpy()],
    }
    return {"features": [names[i] for i in by_bytes], "crs": "planar"}, arrays, place
