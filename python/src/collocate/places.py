"""Places with places: which kinds of points are often close together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _questions as asked_of
from ._asked import asks
from ._documents import paths_of
from ._names import renamed
from ._progress import ProgressOption, bar
from ._worker import call
from .errors import need, warn
from .hits import _table

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd
    from typing_extensions import Unpack


class Patterns:
    """Co-location patterns: sets of features whose points are often mutual neighbours.

    patterns and rules are lists of dicts, svg is a map. Of several distances or regions, patterns
    and rules have those of all, each with its distance and region; then there is no map.

    After a test, null and rounds say with what patterns were compared, study_area where the null
    model moved points, in the square of the unit, and bandwidth is that of the density that all
    features share; None means none. Patterns of several distances or regions have each their own.
    """

    def __init__(self, answer: dict[str, Any], svg: str, geojson: bytes | None, source: Any):
        runs: list[dict[str, Any]] = answer.get("runs") or []
        alone = answer if not runs else {"patterns": [], "rules": []}
        self.patterns: list[dict[str, Any]] = alone.get("patterns") or []
        self.rules: list[dict[str, Any]] = alone.get("rules") or []
        for run in runs:
            where: dict[str, Any] = {k: run[k] for k in ("distance", "region") if k in run}
            fitted = {k: run.get(k) for k in ("study_area", "bandwidth")} if "null" in run else {}
            self.patterns += [{**p, **where, **fitted} for p in run["patterns"]]
            self.rules += [{**r, **where} for r in run.get("rules") or []]
        self.distance: float | None = alone.get("distance")
        self.unit: str = (runs or [alone])[0].get("unit") or ""
        self.null: str | None = (runs or [alone])[0].get("null")
        self.rounds: int | None = (runs or [alone])[0].get("rounds")
        self.study_area: float | None = alone.get("study_area")
        self.bandwidth: float | None = alone.get("bandwidth")
        self.total: int = answer["total"]
        self.svg: str = svg
        self._geojson, self._source = geojson, source

    def __len__(self) -> int:
        return len(self.patterns)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.patterns)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.patterns[i]

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with features, size, participation_index, the number of participating points
        and of all points of each feature, and the results of tests."""
        pd = need("pandas", "pandas")
        rows = [
            {
                "features": tuple(p["features"]),
                "size": len(p["features"]),
                **{k: v for k, v in p.items() if k not in ("features", "participation")},
                "points": tuple(p["participation"][f]["points"] for f in p["features"]),
                "totals": tuple(p["participation"][f]["total"] for f in p["features"]),
            }
            for p in self.patterns
        ]
        columns = ["features", "size", "participation_index", "points", "totals"]
        return pd.DataFrame(rows, columns=None if rows else columns)

    def rules_to_pandas(self) -> pd.DataFrame:
        """The rules as a DataFrame, if `mine` was called with rules=True."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(self.rules)

    def to_geopandas(self) -> gpd.GeoDataFrame:
        """The participating points, each with the numbers of its patterns, from 0."""
        gpd = need("geopandas", "geo")
        if self._geojson is None:
            raise ValueError('the reference system is unknown: pass crs="planar" or "EPSG:..."')
        collection = json.loads(self._geojson)
        features, crs = collection["features"], "EPSG:4326"
        if "crs" in collection:  # the system of a GeoJSON file that named one, or a plane
            crs = collection["crs"] and collection["crs"]["properties"]["name"]
        taking = [f for f in features if f["geometry"]["type"] == "Point"]
        rows = [f["properties"]["row"] - 1 for f in taking]
        numbers = [[n - 1 for n in f["properties"]["patterns"]] for f in taking]
        if hasattr(self._source, "geometry"):
            out = self._source.iloc[rows].copy()
            out["patterns"] = numbers
            return out
        out = gpd.GeoDataFrame.from_features(taking, crs=crs)
        out["patterns"] = numbers
        return out

    def __repr__(self) -> str:
        return f"<Patterns: {len(self)}>"

    def _repr_html_(self) -> str:
        best = sorted(self.patterns, key=lambda p: (-len(p["features"]), -p["participation_index"]))
        rows = [
            [", ".join(p["features"]), f"{p['participation_index']:.4f}", _shares(p)]
            for p in best[:20]
        ]
        head = ["features", "participation index", "participating points"]
        return _table(head, rows, repr(self)[1:-1]) + self.svg


def _shares(pattern: dict[str, Any]) -> str:
    """The participating points of each feature, such as 2/4, 2/5."""
    shares = (pattern["participation"][f] for f in pattern["features"])
    return ", ".join(f"{s['points']}/{s['total']}" for s in shares)


@asks(asked_of.Mine)
def mine(
    points: Any,
    distance: float | Sequence[float] | str | None = None,
    min_prevalence: float = 0.2,
    *,
    knn: int = 0,
    hierarchy: Any = None,
    progress: ProgressOption = None,
    **asked: Unpack[asked_of.Mine],
) -> Patterns:
    """Finds kinds of places that are often close together.

    points: a GeoDataFrame of points, a DataFrame with columns for x, y and the feature, an AnnData
        with positions in obsm["spatial"], or a file (CSV, GeoJSON, GeoParquet, Shapefile,
        GeoPackage, GPX) or a PostGIS database (postgres://...). x, y, feature and time name columns;
        geometry, columns and layer are for files and databases.
    distance: neighbours are at most this far apart, in metres for longitudes and latitudes, else in
        the unit of the coordinates; several are mined one after the other, and "auto" is as
        `summary` suggests.
    min_prevalence: the least participation index of a pattern.
    knn: points are neighbours if one is among the k nearest of the other (and within distance, if
        that is given).
    hierarchy: {feature: parent}, or a CSV file of such lines: replace features by their ancestors
        of a level; level="all" adds these.
    """
    args, arrays, source = _points(points, asked)
    if isinstance(hierarchy, Mapping):
        args["parents"] = {str(k): str(v) for k, v in hierarchy.items()}
    elif hierarchy is not None:
        args["hierarchy"] = os.fspath(hierarchy) and os.path.abspath(hierarchy)
    args |= {"knn": knn, "min_prevalence": min_prevalence, "map": True}
    if distance is not None and not (distance == 0 and knn):
        args["distance"] = distance if isinstance(distance, (str, int, float)) else list(distance)
    with bar(progress, "mining", "points") as tell:
        a = call("mine", args, arrays, progress=tell)
    geojson = a.arrays["geojson"].tobytes() if "geojson" in a.arrays else None
    return Patterns(a.result["answer"], a.result["svg"], geojson, source)


@renamed(permutations="rounds")
@asks(asked_of.Pairs)
def pairs(
    points: Any, distance: float = 0, *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Pairs],
) -> pd.DataFrame:  # fmt: skip
    """The colocation quotients of all ordered pairs of features, as a DataFrame.

    A quotient of 1 is chance; above 1, points of `of` have more points of `near` around them than
    by chance. The p-value is two-sided, by random relabelling; q_value corrects it for all pairs
    that were asked for. Points and distance are as in `mine`.
    """
    pd = need("pandas", "pandas")
    args, arrays, _ = _points(points, asked)
    with bar(progress, "relabelling", "rounds") as tell:
        found = call("pairs", {"distance": distance, **args}, arrays, progress=tell).result["pairs"]
    names = ["of", "near", "points", "participating", "total", "quotient", "p_value",
             "q_value"]  # fmt: skip
    table = pd.DataFrame(found, columns=names)
    counts = dict.fromkeys(["points", "participating", "total"], "int64")
    return table.astype({**counts, **dict.fromkeys(names[5:], "float64")})


@renamed(bins="steps", strongest="top")
@asks(asked_of.Curve)
def curve(
    points: Any, of: str | Sequence[str] | None = None, near: str | Sequence[str] | None = None, *,
    rounds: int = 99, progress: ProgressOption = None, **asked: Unpack[asked_of.Curve],
) -> pd.DataFrame:  # fmt: skip
    """At which distances features attract or avoid each other, as a DataFrame.

    A row for each pair and distance: Ripley's cross K (k), L (its root over pi: equal to the
    distance where features are independent), the pair correlation (1 is chance) and the
    participation index, with the points of each feature that have one of the other near, of total.
    Points are as in `mine`.
    of, near: features; without them all pairs, or the strongest, if top says how many.
    rounds: compare with this many rounds of a null model (inhomogeneous, shift, relabel, cluster;
        with within also times). This adds l_expected, l_low, l_high (95% of the rounds), the same
        for the index, p_value and q_value, and with envelope="rank" the p-interval p_low, p_high.
        0 means none, which is faster.

    With intensity="shared" or "own" there are k_inhomogeneous and pair_correlation_inhomogeneous.
    The table's attrs have the unit, the study_area in its square, and of a test null, rounds and
    bandwidth, the one of the density that all features share, if there is one.
    """
    pd = need("pandas", "pandas")
    args, arrays, _ = _points(points, asked)
    args |= {"of": _listed(of), "near": _listed(near), "rounds": rounds}
    with bar(progress, "measuring") as tell:
        a = call("curve", args, arrays, progress=tell)
    names = np.array(a.result["features"], dtype=object)
    found, pairs = a.arrays, len(a.arrays["a"])
    each = len(found["distance"]) // pairs if pairs else 0
    columns: dict[str, Any] = {n: np.repeat(names[found[n]], each) for n in ("a", "b")}
    usual = ("distance", "k", "l", "pair_correlation", "participation_index",
             "participating_a", "participating_b")  # fmt: skip
    tested = ("l_expected", "l_low", "l_high", "index_expected", "index_low", "index_high")
    columns.update({n: found[n] for n in usual})
    columns.update({n: np.repeat(found[n], each) for n in ("total_a", "total_b")})
    if args.get("intensity", "uniform") != "uniform":
        columns.update({n: found[n] for n in ("k_inhomogeneous", "pair_correlation_inhomogeneous")})
    if rounds:
        columns.update({n: found[n] for n in tested})
        tests = ("p_low", "p_high") if args.get("envelope") == "rank" else ()
        columns.update({n: np.repeat(found[n], each) for n in ("p_value", "q_value", *tests)})
    table = pd.DataFrame(columns)
    table.attrs.update({k: v for k, v in a.result.items() if k != "features"})
    return table


@asks(asked_of.Summary)
def summary(points: Any, **asked: Unpack[asked_of.Summary]) -> dict[str, Any]:
    """Describes points, before they are mined.

    Features with their counts, extent, unit, duplicates, neighbours by distance, and the distances
    worth mining: distance_low, distance_suggested and distance_high. Points are as in `mine`.
    """
    args, arrays, _ = _points(points, asked)
    found: dict[str, Any] = call("summary", args, arrays).result
    return found


@asks(asked_of.CoOccurrence)
def co_occurrence(
    points: Any, max_distance: float, **asked: Unpack[asked_of.CoOccurrence]
) -> pd.DataFrame:
    """How much more often than by chance features are within each distance of each other.

    A row for each ordered pair and distance; a ratio of 1 is chance. Points are as in `mine`.
    `collocate.omics.co_occurrence` has the same for AnnData, with the names of squidpy.
    """
    pd = need("pandas", "pandas")
    args, arrays, _ = _points(points, asked)
    a = call("co-occurrence", {"max_distance": max_distance, **args}, arrays)
    names, ratio = np.array(a.result["features"], dtype=object), a.arrays["ratio"]
    of, near, at = (i.ravel() for i in np.indices(ratio.shape))
    columns = {"of": names[of], "near": names[near], "distance": a.arrays["distances"][at]}
    table = pd.DataFrame(columns | {"ratio": ratio.ravel()})
    table.attrs["unit"] = a.result["unit"]
    return table


@asks(asked_of.Enrichment)
def enrichment(
    points: Any, distance: float = 0, *,
    progress: ProgressOption = None, **asked: Unpack[asked_of.Enrichment],
) -> pd.DataFrame:  # fmt: skip
    """How many neighbours features have in each other, compared with random labels (z).

    A row for each ordered pair. Points are as in `mine`; either distance or knn says which are
    neighbours. `collocate.omics.nhood_enrichment` has the same for AnnData.
    """
    pd = need("pandas", "pandas")
    args, arrays, _ = _points(points, asked)
    with bar(progress, "relabelling", "rounds") as tell:
        a = call("enrichment", {"distance": distance, **args}, arrays, progress=tell)
    names = np.array(a.result["features"], dtype=object)
    of, near = (i.ravel() for i in np.indices(a.arrays["counts"].shape))
    columns = {"count": "counts", "expected": "expected", "z": "z"}
    table = {"of": names[of], "near": names[near]}
    return pd.DataFrame(table | {n: a.arrays[v].ravel() for n, v in columns.items()})


def _listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or [])


# The usual names of columns, in any case, as package points has them for files.
_POSITIONS = (
    ("x", "y"), ("locx", "locy"), ("loc_x", "loc_y"), ("gx", "gy"), ("px", "py"), ("lon", "lat"),
    ("lng", "lat"), ("long", "lat"), ("longitude", "latitude"),
    ("decimallongitude", "decimallatitude"), ("easting", "northing"), ("x_coord", "y_coord"),
    ("xcoord", "ycoord"), ("x_coordinate", "y_coordinate"), ("coord_x", "coord_y"),
    ("point_x", "point_y"), ("pos_x", "pos_y"),
)  # fmt: skip
_CLEAR = ("feature", "fclass", "feature_class", "featureclass")  # can mean nothing else
_FEATURES = (
    "type", "class", "kind", "category", "species", "sp", "label", "primary type", "primary_type",
    "offense", "crime type", "amenity",
)  # fmt: skip


def _points(
    points: Any, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, np.ndarray] | None, Any]:
    """Arguments and arrays of a call about points. asked also says how these are read."""
    rest = dict(asked)
    database = isinstance(points, str) and points.startswith(("postgres://", "postgresql://", "PG:"))
    if isinstance(points, (str, os.PathLike)) and not database and not os.path.exists(points):
        raise FileNotFoundError(f"{os.fspath(points)!r}: no such file or folder")
    if isinstance(points, (str, os.PathLike)) or isinstance(points, list):
        paths = [points] if database else paths_of(points)
        if paths is None:
            raise TypeError("points are a list: want a DataFrame, a GeoDataFrame or a file name")
        if "crs" in rest:
            rest["crs"] = str(rest["crs"])
        return {"paths": paths, **rest}, None, None
    x, y, geometry, feature, time, columns, layer, crs, min_points, skip_bad = (
        rest.pop(name, None) for name in asked_of.Points.__annotations__
    )
    if geometry or columns or layer:
        raise ValueError("geometry=, columns= and layer= are for files: points are a table")
    if hasattr(points, "obs") and hasattr(points, "obsm"):  # AnnData
        points, crs = _cells(points), "planar" if crs is None else crs
    if hasattr(points, "to_pandas") and not hasattr(points, "iloc"):  # polars, pyarrow
        points = points.to_pandas()
    if not hasattr(points, "columns"):
        raise TypeError(
            f"points are of type {type(points).__name__}: want a DataFrame or a file name"
        )
    at = None
    if not hasattr(getattr(points, "geometry", None), "geom_type") or x or y:
        at = _position(points, x, y)
    feature = _feature(points, feature, at or ())
    points = _good(points, feature, at, time, skip_bad)
    kinds = points[feature].astype(str).value_counts()
    if min_points and len(kinds) and kinds.iloc[0] < min_points:
        warn(f"min_points={min_points} leaves no points: no feature has so many")
    kind = points[feature]
    if at is None:
        geometry = points.geometry
        absent = (geometry.isna() | geometry.is_empty).to_numpy()
        if absent.any():
            raise ValueError(
                f"row {int(np.argmax(absent))}: has no position (skip_bad= leaves such rows out)"
            )
        if not (geometry.geom_type == "Point").all():
            raise ValueError("the geometries are not all points: take their centroid first")
        xs, ys = geometry.x.to_numpy(), geometry.y.to_numpy()
        crs = crs if crs is not None else points.crs
    else:
        xs, ys = (_numbers(points, name) for name in at)
    names, numbers = np.unique(kind.astype(str).to_numpy(dtype=object), return_inverse=True)
    # Sort names by their bytes, as the program does.
    order = sorted(range(len(names)), key=lambda i: str(names[i]).encode())
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    args: dict[str, Any] = {**rest, "features": [str(names[i]) for i in order]}
    if min_points is not None:  # also counted in the study area and in each region
        args["min_points"] = min_points
    if crs is not None:
        args["crs"] = _crs(crs)
    arrays: dict[str, np.ndarray] = {
        "x": np.ascontiguousarray(xs, dtype=np.float64),
        "y": np.ascontiguousarray(ys, dtype=np.float64),
        "feature": rank[numbers.ravel()],
    }
    if time is not None:
        arrays["time"] = _seconds(points, _column(points, time, "time"))
    return args, arrays, points


def _seconds(points: Any, name: Any) -> np.ndarray:
    """A column of times, in seconds since 1970; numbers are seconds, too."""
    pd = need("pandas", "pandas")
    column = points[name]
    if column.isna().any():
        raise ValueError(f"column {name!r}: row {int(np.argmax(column.isna()))} has no time")
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.int64)
    times = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    return times.to_numpy(dtype="datetime64[s]").astype(np.int64)


def _numbers(points: Any, name: Any) -> np.ndarray:
    """A column of coordinates."""
    try:
        return points[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as err:
        raise ValueError(f"column {name!r}: {err}") from None


def _good(points: Any, feature: Any, at: Any, time: str | None, skip_bad: bool | None) -> Any:
    """The rows that have a feature, a position, and a time if that is wanted."""
    kind = points[feature]
    bad = kind.isna().to_numpy() | (kind.astype(str).str.strip() == "").to_numpy()
    if not skip_bad:
        if bad.any():
            raise ValueError(
                f"row {int(np.argmax(bad))}: has no feature (skip_bad= leaves such rows out)"
            )
        return points
    lacks = {"a feature": bad}
    if at is None:
        absent = (points.geometry.isna() | points.geometry.is_empty).to_numpy()
    else:
        absent = ~np.isfinite([_numbers(points, name) for name in at]).all(axis=0)
    lacks["a valid position"] = absent & ~bad
    bad = bad | absent
    if time is not None:
        late = points[_column(points, time, "time")].isna().to_numpy() & ~bad
        lacks["a valid time"] = late
        bad = bad | late
    if bad.any():
        why = "; ".join(
            f"{int(of.sum())} without {what} (the first: row {int(np.argmax(of))})"
            for what, of in lacks.items() if of.any()
        )  # fmt: skip
        n = int(bad.sum())
        warn(f"left out {n} bad {'row' if n == 1 else 'rows'}: {why}")
        points = points[~bad]
    return points


def _cells(adata: Any) -> Any:
    """The observations of an AnnData with their positions, which squidpy keeps under "spatial"."""
    if "spatial" not in adata.obsm:
        raise ValueError(f'obsm has no positions "spatial": it has {list(adata.obsm)}')
    at = np.asarray(adata.obsm["spatial"], dtype=np.float64)
    kept = adata.obs.drop(columns=["x", "y"], errors="ignore")
    return kept.assign(x=at[:, 0], y=at[:, 1])


def _crs(crs: Any) -> str:
    if isinstance(crs, (str, int)):
        return str(crs)
    epsg = crs.to_epsg() if hasattr(crs, "to_epsg") else None
    return f"EPSG:{epsg}" if epsg else str(crs.to_wkt("WKT1_GDAL"))


def _position(points: Any, x: str | None, y: str | None) -> tuple[Any, Any]:
    """The columns of the position: those named, or the only ones with usual names."""
    lower = {str(c).lower(): c for c in points.columns}
    found = [
        (_column(points, x, "x") if x else lower[a], _column(points, y, "y") if y else lower[b])
        for a, b in _POSITIONS
        if (x or a in lower) and (y or b in lower)
    ]
    found = list(dict.fromkeys(found))
    if not found:
        lacking = "x= and y=" if not x and not y else "y=" if x else "x="
        raise ValueError(
            f"none of the columns {list(points.columns)} is known as a position: pass {lacking}"
        )
    if len(found) > 1:
        either = ", or ".join(f"{a} and {b}" for a, b in found)
        raise ValueError(f"positions could be in columns {either}: choose with x= and y=")
    return found[0]


def _feature(points: Any, named: str | None, at: tuple[Any, ...]) -> Any:
    """The column of the feature: the one named, or the only one with a usual name."""
    if named is not None:
        return _column(points, named, "feature")
    lower = {str(c).lower(): c for c in points.columns if c not in at}
    for name in _CLEAR:
        if name in lower:
            return lower[name]
    found = [lower[name] for name in _FEATURES if name in lower]
    if not found:
        raise ValueError(
            f"none of the columns {list(points.columns)} is known as feature: pass feature="
        )
    if len(found) > 1:
        raise ValueError(f"the feature could be in any of the columns {found}: pass feature=")
    return found[0]


def _column(points: Any, named: str, what: str) -> Any:
    if named not in points.columns:
        raise ValueError(f"{what}={named!r}: the columns are {list(points.columns)}")
    return named
