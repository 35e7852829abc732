"""Runs the algorithms with qgis_process, and compares with the command.

python3 qgis/test_provider.py COMMAND, where COMMAND is the path of collocate. It needs QGIS 3.22 or
newer with its Python (Debian: qgis, python3-qgis), and is skipped without qgis_process.
"""

import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PLUGIN = "collocate_provider"


def qgis_process():
    # Debian's qgis_process passes an option that the program does not know.
    return shutil.which("qgis_process.bin") or shutil.which("qgis_process")


def points(path):
    """Cafes that are beside bars, and shops anywhere, as GeoJSON in UTM zone 32."""
    rng = random.Random(3)
    features = []

    def add(kind, x, y):
        features.append({"type": "Feature", "properties": {"kind": kind, "opened": "2024-05-31"},
                         "geometry": {"type": "Point", "coordinates": [500000 + x, 5700000 + y]}})  # fmt: skip

    for _ in range(60):
        x, y = rng.uniform(0, 1000), rng.uniform(0, 1000)
        add("cafe", x, y)
        add("bar", min(1000, x + 5), y)
        add("shop", rng.uniform(0, 1000), rng.uniform(0, 1000))
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}))


def area(path):
    """A study area in two parts, in WGS 84, as areas often are."""
    half = [[[8.99, 51.44], [9.007, 51.44], [9.007, 51.47], [8.99, 51.47], [8.99, 51.44]]]
    rest = [[[9.007, 51.44], [9.02, 51.44], [9.02, 51.47], [9.007, 51.47], [9.007, 51.44]]]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": c}}
        for c in (half, rest)]}))  # fmt: skip


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def main(command):
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        profile = home / ".local/share/QGIS/QGIS3/profiles/default"
        shutil.copytree(HERE / PLUGIN, profile / "python/plugins" / PLUGIN)
        (profile / "QGIS").mkdir(parents=True)
        (profile / "QGIS/QGIS3.ini").write_text(f"[PythonPlugins]\n{PLUGIN}=true\n")
        env = dict(os.environ, HOME=folder, QT_QPA_PLATFORM="offscreen", XDG_RUNTIME_DIR=folder,
                   COLLOCATE=command)  # fmt: skip
        points(home / "points.geojson")
        area(home / "area.geojson")

        def run(algorithm, **parameters):
            args = [qgis_process(), "run", "collocate:" + algorithm, "--"]
            args += [f"{name}={value}" for name, value in parameters.items()]
            done = subprocess.run(args, env=env, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        def must(algorithm, **parameters):
            code, text = run(algorithm, POINTS=home / "points.geojson", FIELD="kind", **parameters)
            assert code == 0, text
            return text

        def cli(*args):
            done = subprocess.run([command, *map(str, args)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout

        must("patterns", DISTANCE=10, WINDOW=home / "area.geojson", ROUNDS=39, ADJUST=1,
             OUTPUT=home / "patterns.csv", PARTICIPANTS=home / "participants.gpkg",
             INSTANCES=home / "instances.gpkg", HTML=home / "map.html")  # fmt: skip
        found = rows(home / "patterns.csv")
        assert [r["pattern"] for r in found] == ["bar, cafe"], found
        want = json.loads(cli(
            "places", home / "points.geojson", "--feature", "kind", "-d", 10, "--significance", 39,
            "--adjust", "max", "--window", home / "area.geojson", "--json"))["patterns"][0]  # fmt: skip
        for name in ("participation_index", "expected_index", "p_value", "q_value"):
            assert abs(float(found[0][name]) - want[name]) <= 1e-9, (name, found[0], want)
        assert float(found[0]["q_value"]) <= 0.05, found
        assert found[0]["null_model"] == "inhomogeneous" and found[0]["rounds"] == "39", found
        assert float(found[0]["study_area"]) > 0, found
        assert (home / "map.html").stat().st_size > 10_000
        again = cli("places", "summary", home / "participants.gpkg", "--json")
        assert json.loads(again)["points"] == 120 and "25832" in again, again
        assert (home / "instances.gpkg").exists()

        must("curves", MAX_DISTANCE=100, OF="bar", NEAR="cafe,shop", ROUNDS=19,
             OUTPUT=home / "curves.csv", SVG=home / "curves.svg")  # fmt: skip
        cli("places", "curve", home / "points.geojson", "--feature", "kind", "-d", 100, "--of", "bar",
            "--near", "cafe,shop", "--rounds", 19, "--csv", home / "want.csv")  # fmt: skip
        got, want = rows(home / "curves.csv"), rows(home / "want.csv")
        assert len(got) == len(want) == 100
        for a, b in zip(got, want):
            for name in ("distance", "k", "l", "l_low", "l_high", "pair_correlation", "q_value",
                         "study_area", "bandwidth"):  # fmt: skip
                assert abs(float(a[name]) - float(b[name])) <= 1e-9 * abs(float(b[name])), (name, a, b)
            assert a["null"] == b["null"], (a, b)
        assert "<svg" in (home / "curves.svg").read_text()

        must("quotients", KNN=4, ROUNDS=99, ADJUST=1, OUTPUT=home / "quotients.csv")
        got = {(r["of"], r["near"]): r for r in rows(home / "quotients.csv")}
        want = json.loads(cli("places", "pairs", home / "points.geojson", "--feature", "kind", "--knn", 4,
                              "--rounds", 99, "--adjust", "max", "--json"))["pairs"]  # fmt: skip
        assert len(got) == len(want) == 9
        for pair in want:
            row = got[pair["of"], pair["near"]]
            assert abs(float(row["quotient"]) - pair["quotient"]) <= 1e-9, (row, pair)
            assert float(row["q_value"]) == pair["q_value"], (row, pair)

        text = must("summary", OUTPUT=home / "summary.txt")
        assert "SUGGESTED" in text and "EPSG:25832" in (home / "summary.txt").read_text()

        code, text = run("patterns", POINTS=home / "points.geojson", FIELD="kind", DISTANCE=10,
                         WITHIN="7d", OUTPUT=home / "x.csv")  # fmt: skip
        assert code != 0 and "how long apart" in text, text
        env["COLLOCATE"] = "/nonexistent/collocate"
        code, text = run("summary", POINTS=home / "points.geojson", FIELD="kind")
        assert code != 0 and "Install the collocate command" in text, text
    print("QGIS: all algorithms agree with the command")


if __name__ == "__main__":
    if qgis_process() is None:
        print("skipped: no qgis_process")
    else:
        main(os.path.abspath(sys.argv[1]))
