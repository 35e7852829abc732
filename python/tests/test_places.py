from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from collocate import CollocateError, CollocateWarning, curve, enrichment, mine, pairs, summary
from collocate.places import co_occurrence

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def shops():
    draw = np.random.default_rng(1)
    x, y = draw.uniform(0, 1000, (2, 60))
    frame = [(a, b, "café") for a, b in zip(x, y)]
    frame += [(a + draw.normal(0, 5), b + draw.normal(0, 5), "bar") for a, b in zip(x, y)]
    frame += [(a, b, "Zoo") for a, b in draw.uniform(0, 1000, (40, 2))]
    return pd.DataFrame(frame, columns=["x", "y", "kind"])


def test_mine(shops):
    found = mine(shops, distance=30, min_prevalence=0.5)
    assert [p["features"] for p in found] == [["bar", "café"]]
    table = found.to_pandas()
    assert table.loc[0, "features"] == ("bar", "café") and table.loc[0, "size"] == 2
    taking = found[0]["participation"]["bar"]
    assert table.loc[0, "points"][0] == taking["points"] > 0
    assert table.loc[0, "totals"][0] == taking["total"]
    assert f"{taking['points']}/{taking['total']}" in found._repr_html_()
    assert found.svg.startswith("<svg") and "participation index" in found._repr_html_()
    with pytest.warns(CollocateWarning, match='use 59 rounds or more, or adjust="max"'):
        tested = mine(shops, distance=30, min_prevalence=0.5, significance=19, rules=True)
    assert tested[0]["p_value"] == pytest.approx(1 / 20)
    assert set(tested.rules_to_pandas()["if"].map(tuple)) == {("bar",), ("café",)}
    assert len(mine(shops, knn=1, min_prevalence=0.99, all=True)) <= 3
    assert len(mine(shops, distance=0.001, min_prevalence=1).to_pandas()) == 0


def test_the_same_as_the_command(shops, command, tmp_path):
    path = tmp_path / "shops.csv"
    shops.to_csv(path, index=False)
    run = [*command, "places", str(path), "-d", "40", "-p", "0.2", "--all", "--json", "-q"]
    printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    found = mine(shops, distance=40, min_prevalence=0.2, all=True)
    assert found.patterns == printed["patterns"]
    assert mine(path, distance=40, min_prevalence=0.2, all=True).patterns == found.patterns
    run = [*command, "places", "pairs", str(path), "--knn", "4", "--json", "-q"]
    printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)["pairs"]
    table = pairs(shops, knn=4, adjust="max")
    assert table["quotient"].tolist() == [p["quotient"] for p in printed]
    assert table["p_value"].tolist() == [p["p_value"] for p in printed]
    assert table["of"].tolist() == [p["of"] for p in printed]


def test_geodataframes(shops):
    gpd = pytest.importorskip("geopandas")
    frame = gpd.GeoDataFrame(
        shops[["kind"]], geometry=gpd.points_from_xy(shops.x, shops.y), crs="EPSG:27700"
    )
    found = mine(frame, distance=30, min_prevalence=0.5)
    plain = mine(shops, distance=30, min_prevalence=0.5)
    assert found.patterns == plain.patterns and found.unit == "m"
    part = found.to_geopandas()
    assert part.crs == frame.crs and set(part["kind"]) == {"bar", "café"}
    counted = found[0]["participation"]
    assert (part["kind"] == "bar").sum() == counted["bar"]["points"]
    assert part["patterns"].tolist() == [[0]] * len(part)
    places = gpd.points_from_xy([13.40, 13.41], [52.5, 52.5])
    degrees = gpd.GeoDataFrame({"kind": ["a", "b"]}, geometry=places, crs="EPSG:4326")
    assert len(mine(degrees, distance=1000, min_prevalence=1)) == 1  # metres
    assert len(mine(degrees, distance=500, min_prevalence=1)) == 0
    with pytest.raises(ValueError, match="centroid"):
        mine(frame.set_geometry(frame.buffer(1)), distance=1)


def test_mistakes(shops, tmp_path):
    with pytest.raises(ValueError, match="distance"):
        mine(shops)
    with pytest.raises(ValueError, match="min_prevalence"):
        mine(shops, distance=1, min_prevalence=2)
    with pytest.raises(ValueError, match="feature"):
        mine(shops.rename(columns={"kind": "what"}), distance=1)
    with pytest.raises(ValueError, match="feature='what'"):
        mine(shops, distance=1, feature="what")
    with pytest.raises(ValueError, match='crs="EPSG:4326"'):
        mine(shops.assign(x=shops.x / 1000, y=shops.y / 1000), distance=1)
    assert len(mine(shops.assign(x=shops.x / 1000, y=shops.y / 1000), 1, crs="planar")) > 0
    with pytest.raises(ValueError, match="row 3"):
        mine(shops.assign(x=shops.x.where(shops.index != 3)), distance=1)
    with pytest.raises(ValueError, match="row 2: has no feature"):
        mine(shops.assign(kind=shops.kind.where(shops.index != 2)), distance=1)
    with pytest.raises(ValueError, match="EPSG:1"):
        mine(shops, distance=1, crs="EPSG:1")
    with pytest.raises(FileNotFoundError):
        mine(tmp_path / "none.csv", distance=1)
    with pytest.raises(TypeError, match="DataFrame"):
        pairs(3, distance=1)
    with pytest.raises(ValueError, match="rounds -1: want 0 or more"):
        pairs(shops, distance=1, rounds=-1)


def test_summary_and_curve():
    rng = np.random.default_rng(1)
    at = rng.random((60, 2)) * 1000
    rows = [(x, y, "bar") for x, y in at] + [(x + 1, y, "pub") for x, y in at]
    rows += [(x, y, "bank") for x, y in rng.random((60, 2)) * 1000]
    table = pd.DataFrame(rows, columns=["x", "y", "kind"])
    found = summary(table, crs="planar")
    assert found["points"] == 180 and found["distance_suggested"] > 0
    assert {f["feature"] for f in found["features"]} == {"bar", "pub", "bank"}
    curves = curve(table, "bar", "pub", max_distance=50, steps=5, rounds=19, crs="planar")
    assert list(curves["distance"]) == [10, 20, 30, 40, 50]
    assert (curves["a"] == "bar").all() and (curves["b"] == "pub").all()
    assert (curves["l"] > curves["distance"]).all() and curves["p_value"][0] == 0.05
    square = "POLYGON ((-5 -5, 1005 -5, 1005 1005, -5 1005))"
    seen = curve(table, "bar", "pub", max_distance=50, steps=5, rounds=19, bandwidth=200,
                 window=square, crs="planar").attrs  # fmt: skip
    assert seen == {"unit": "", "study_area": 1010**2, "null": "inhomogeneous", "rounds": 19,
                    "bandwidth": 200}  # fmt: skip
    every = curve(table, max_distance=50, steps=5, rounds=0, crs="planar")
    assert every.attrs["study_area"] > 0 and "null" not in every.attrs
    assert len(every) == 15 and "p_value" not in every
    with pytest.raises(ValueError, match="zoo"):
        curve(table, "zoo", crs="planar")
    with pytest.raises(ValueError, match="steps 0: want 1 to 10000"):
        curve(table, steps=0, crs="planar")


def test_bad_rows_and_rare_features(tmp_path):
    table = pd.DataFrame(
        {"x": [0, 1, 0, 1, 50, 2.0], "y": [0, 0, 9, 9, 5, 0.0], "kind": [*"abab", "c", " "]}
    )
    with pytest.raises(ValueError, match="row 5: has no feature .skip_bad="):
        mine(table, 2, crs="planar")
    path = tmp_path / "p.csv"
    table.to_csv(path, index=False)
    with pytest.raises(CollocateError, match="skip_bad="):
        mine(path, 2, crs="planar")
    for points in (table, path):
        with pytest.warns(CollocateWarning, match="left out 1 bad row: 1 without"):
            counts = summary(points, crs="planar", skip_bad=True, min_points=2)["features"]
        assert counts == [{"feature": "a", "points": 2}, {"feature": "b", "points": 2}]
    with pytest.warns(CollocateWarning):
        found = mine(table, 2, 1, crs="planar", skip_bad=True, min_points=2)
    assert found[0]["features"] == ["a", "b"] and len(found) == 1
    hole = table.assign(x=[0, np.nan, 0, 1, 50, 2.0], kind="a")
    with pytest.warns(CollocateWarning, match="left out 1 bad row: 1 without a valid position .the first: row 1.$"):
        assert summary(hole, crs="planar", skip_bad=True)["points"] == 5


def test_windows_are_polygons_of_geopandas_and_shapely():
    gpd = pytest.importorskip("geopandas")
    from shapely.geometry import Polygon

    at = np.random.default_rng(2).random((80, 2)) * 900 + [500000, 6000000]
    table = pd.DataFrame({"x": at[:, 0], "y": at[:, 1], "kind": ["a", "b"] * 40})
    left = Polygon([(499990, 5999990), (500400, 5999990), (500400, 6000910), (499990, 6000910)])
    right = Polygon([(500400, 5999990), (500910, 5999990), (500910, 6000910), (500400, 6000910)])
    both = gpd.GeoDataFrame({"name": ["left", "right"]}, geometry=[left, right], crs=25832)
    areas = [
        curve(table, "a", "b", max_distance=50, steps=1, rounds=0, crs="EPSG:25832", window=w).attrs["study_area"]
        for w in (left.union(right), both, both.geometry, both.set_crs(None, allow_override=True),
                  both.to_crs(4326))
    ]  # fmt: skip
    assert areas == pytest.approx([920 * 920] * 5, rel=1e-9)
    other = both.to_crs("+proj=laea +lat_0=54 +lon_0=9 +ellps=GRS80")  # without a number
    area = curve(table, "a", "b", max_distance=50, steps=1, rounds=0, crs="EPSG:25832", window=other)
    assert area.attrs["study_area"] == pytest.approx(920 * 920, rel=1e-6)
    with pytest.raises(ValueError, match="window: 80 of 80 points lie outside"):
        curve(table, "a", "b", max_distance=50, rounds=0, crs="EPSG:25832", window=Polygon([(0, 0), (1, 0), (1, 1)]))


def test_rare_features_are_those_in_the_window():
    table = pd.DataFrame({
        "x": [99, 1, 1, 2, 3, 3, 99], "y": [99, 1, 2, 1, 3, 4, 99.0],
        "kind": ["b", "a", "a", "b", "c", "c", "b"],
    })  # fmt: skip
    with pytest.warns(CollocateWarning) as told:
        found = mine(table, 9, 0.1, crs="planar", window="POLYGON((0 0,9 0,9 9,0 9,0 0))",
                     clip=True, min_points=2, instances=1)  # fmt: skip
    assert [p["features"] for p in found] == [["a", "c"]]
    assert [str(w.message)[:35] for w in told] == [
        "left out 2 points outside the windo", "left out 1 point of features with f"]  # fmt: skip
    assert {i["row"] for i in found[0]["instances"][0]} <= {2, 3, 5, 6}  # of the table
    with pytest.raises(ValueError, match="window: it is empty"):
        mine(table, 9, crs="planar", window="")


def test_points_that_are_no_points_are_named():
    points = pd.DataFrame({"x": [1.0, 2, 3], "y": [1.0, 2, 3], "feature": ["a", "b", "a"]})
    for wrong, says in (
        (points.assign(x="east"), "column 'x': could not convert"),
        (points.assign(x=pd.array([1, pd.NA, 3], dtype="Int64")), "row 1: position"),
    ):
        with pytest.raises(ValueError, match=says):
            mine(wrong, 1, crs="planar")
    for option, value in (("threads", -1), ("significance", -1), ("min_confidence", 2)):
        with pytest.raises(ValueError, match=f"{option}[= ]{value}: want"):
            mine(points, 1, crs="planar", rules=True, **{option: value})
    with pytest.raises(FileNotFoundError, match="no such file or folder$"):
        mine("nowhere.csv", 1)
    with pytest.warns(CollocateWarning, match="min_points=9 leaves no points"):
        assert len(mine(points, 1, crs="planar", min_points=9)) == 0
    wanted = mine(points, 2, crs="planar").patterns
    for module in ("polars", "pyarrow"):
        tables = pytest.importorskip(module, reason=f"{module} is not installed")
        make = tables.DataFrame if module == "polars" else tables.table
        table = make(points.to_dict("list"))
        assert mine(table, 2, crs="planar").patterns == wanted
    gpd = pytest.importorskip("geopandas")
    shapes = gpd.points_from_xy(points.x, points.y)
    with pytest.raises(ValueError, match="row 0: has no position"):
        gone = gpd.GeoDataFrame(points[["feature"]], geometry=[None, *shapes[1:]])
        mine(gone, 1, crs="planar")


def test_columns_are_recognised_as_in_files(tmp_path):
    points = pd.DataFrame({"LocX": [1.0, 2, 3], "LocY": [1.0, 2, 3], "fclass": ["a", "b", "a"],
                           "type": "t"})  # fmt: skip
    file = tmp_path / "points.csv"
    points.to_csv(file, index=False)
    wanted = mine(file, 2, crs="planar").patterns
    assert wanted and mine(points, 2, crs="planar").patterns == wanted
    assert mine(points, 2, x="LocY", crs="planar").patterns  # with LocY as y
    for wrong, says in (
        (points.assign(lon=1.0, lat=1.0), "could be in columns LocX and LocY, or lon and"),
        (points.rename(columns={"LocY": "lat"}), "is known as a position: pass x= and y="),
        (points.rename(columns={"fclass": "class"}), "the feature could be in any of"),
        (points.drop(columns=["fclass", "type"]).assign(a=1, b=2), "is known as feature"),
    ):
        with pytest.raises(ValueError, match=says):
            mine(wrong, 2, crs="planar")
        wrong.to_csv(file, index=False)
        with pytest.raises(CollocateError):
            mine(file, 2, crs="planar")


def test_distances_regions_times_and_levels():
    rows = [
        (0, 0, "cafe", "2024-05-01"), (0, 1, "bar", "2024-05-02"),
        (0.5, 0.5, "pub", "2024-06-01"), (0.2, 0, "zoo", "2024-01-01"),
        (10, 0, "zoo", "2024-05-01"), (10, 5, "zoo", "2024-05-01"),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["x", "y", "type", "when"])
    several = mine(table, [1, 2], 0.5, crs="planar")
    assert {p["distance"] for p in several} == {1, 2} and several.distance is None
    assert list(several.to_pandas()["distance"]) == [p["distance"] for p in several]
    asked = {"crs": "planar", "significance": 19, "window": "POLYGON ((-1 -1, 11 -1, 11 6, -1 6))"}
    with pytest.warns(CollocateWarning, match="use 159 rounds or more"):
        tested = mine(table, 1, 0.5, bandwidth=4, **asked)
    assert (tested.null, tested.rounds) == ("inhomogeneous", 19)
    assert (tested.study_area, tested.bandwidth) == (84, 4)
    assert several.null is None and several.study_area is None
    with pytest.warns(CollocateWarning, match="use 159 rounds or more"):
        each = mine(table, [1, 2], 0.5, null="shift", **asked)
    assert each.null == "shift" and each.study_area is None
    assert {p["study_area"] for p in each} == {84} and {p["bandwidth"] for p in each} == {None}
    split = mine(table, 1, 0.5, regions="2x1", crs="planar")
    assert ["cafe", "pub", "zoo"] in [p["features"] for p in split]
    assert not [p for p in mine(table, 1, 0.5, crs="planar") if "zoo" in p["features"]]
    timed = mine(table, 1, 0.3, time="when", within="2d", crs="planar")
    assert [p["features"] for p in timed] == [["bar", "cafe"]]
    kinds = {"cafe": "food", "bar": "drink", "pub": "drink", "zoo": "sight"}
    with pytest.warns(CollocateWarning, match="replaced 4 features by 3"):
        lifted = mine(table, 1, 0.4, hierarchy=kinds, crs="planar")
    assert ["drink", "food"] in [p["features"] for p in lifted]
    some = mine(table, 1, 0.3, between=["cafe", "pub"], crs="planar")
    assert [p["features"] for p in some] == [["cafe", "pub"]]
    best = mine(table, 1, 0.3, all=True, with_="bar", top=1, instances=1, crs="planar")
    assert len(best) == 1 and best.total > 1 and best[0]["instances"]
    with pytest.raises(ValueError, match="points have no times"):
        mine(table, 1, 0.3, within="2d", crs="planar")
    with pytest.raises(ValueError, match="are for files"):
        mine(table, 1, layer="points", crs="planar")


def test_statistics_of_omics_take_any_points():
    rng = np.random.default_rng(2)
    at = rng.random((80, 2)) * 100
    table = pd.DataFrame({"x": at[:, 0], "y": at[:, 1] + 200, "kind": ["bar", "pub"] * 40})
    ratios = co_occurrence(table, 30, steps=3, crs="planar")
    assert len(ratios) == 12 and list(ratios["distance"][:3]) == [10, 20, 30]
    rings = co_occurrence(table, 30, steps=3, rings=True, crs="planar")
    assert not rings["ratio"].equals(ratios["ratio"])
    found = enrichment(table, knn=4, rounds=19, crs="planar")
    assert list(found.columns) == ["of", "near", "count", "expected", "z"]
    assert found["count"].sum() == 80 * 4
    with pytest.raises(ValueError, match="want either distance= or knn="):
        enrichment(table, crs="planar")
    only = pairs(table, knn=4, of="bar", near=["pub"], rounds=39, crs="planar")
    assert len(only) == 1 and only["p_value"][0] <= 1
    with pytest.warns(CollocateWarning, match="permutations= is now rounds="):
        older = pairs(table, knn=4, of="bar", near=["pub"], permutations=39, crs="planar")
    assert only.equals(older)
