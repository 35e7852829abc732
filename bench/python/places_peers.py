"""Reads the files of `collocate places` with geopandas and pyogrio, and compares its reference
systems with PROJ.

    pip install geopandas pyogrio pyproj
    python places_peers.py ./collocate

For each system, random points are drawn within its area of use and converted by PROJ. Each has a
neighbour, so all are written. Positions in GeoJSON (WGS 84) and in a GeoPackage (the system itself)
must agree with PROJ to a centimetre.
"""

import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import geopandas
import pyogrio
from pyproj import CRS, Geod, Transformer

SYSTEMS = [4326, 4258, 4269, 4171, 4283, 7844, 4277, 4314, 4312, 3857, 3395, 32631, 32733, 25832,
           26918, 28355, 7855, 31467, 3945, 27700, 2154, 3035, 3034, 2180, 3067, 3006, 2193, 3416,
           31287, 5070, 3577, 3005, 3310, 3347, 2229, 2263, 3435]
POINTS = 200


def draw(crs, rng):
    """Positions in the system, and their longitudes and latitudes by PROJ."""
    west, south, east, north = crs.area_of_use.bounds
    south, north = max(south, -80), min(north, 80)
    forward = Transformer.from_crs(4326, crs, always_xy=True)
    back = Transformer.from_crs(crs, 4326, always_xy=True)
    lon = west + (east - west) * rng.uniform(0.3, 0.7)
    lat = south + (north - south) * rng.uniform(0.3, 0.7)
    near = [forward.transform(lon + rng.uniform(-.05, .05), lat + rng.uniform(-.05, .05))
            for _ in range(POINTS)]
    return near, [back.transform(x, y) for x, y in near]


def check(collocate, code, folder, rng):
    crs = CRS.from_epsg(code)
    here, there = draw(crs, rng)
    table = folder / "points.csv"
    rows = [f"{x!r},{y!r},{'ab'[i % 2]}\n" for i, (x, y) in enumerate(here)]
    table.write_text("x,y,type\n" + "".join(rows))
    done = subprocess.run(
        [collocate, "-q", "places", table, "-d", "100000", "-p", "0.1", "--crs", f"EPSG:{code}",
         "--geojson", folder / "out.geojson", "--geopackage", folder / "out.gpkg",
         "--out", folder / "out.parquet"],
        capture_output=True, text=True)
    if done.returncode != 0:
        return f"refused: {done.stderr.strip().splitlines()[-1]}"
    points = geopandas.read_file(folder / "out.geojson").query("layer == 'point'")
    geod = Geod(ellps="WGS84")
    worst = 0.0
    for row, p in zip(points["row"], points.geometry):
        worst = max(worst, geod.inv(p.x, p.y, *there[int(row) - 1])[2])
    layers = {name: kind for name, kind in pyogrio.list_layers(folder / "out.gpkg")}
    if layers != {"points": "Point", "instances": "MultiLineString", "patterns": None}:
        return f"layers {layers}"
    own = geopandas.read_file(folder / "out.gpkg", layer="points")
    if own.crs.to_epsg() != code or len(own) != POINTS or len(points) != POINTS:
        return f"{own.crs}, {len(own)} and {len(points)} points"
    far = max(math.dist((p.x, p.y), here[int(r) - 1]) for r, p in zip(own["row"], own.geometry))
    if worst > 0.01 or far != 0:
        return f"differs from PROJ by {worst:.4f} m, in the GeoPackage by {far}"
    return None if own.geometry.is_valid.all() else "geometries are not valid"


def main():
    rng = random.Random(1)
    failed = 0
    for code in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            says = check(sys.argv[1], code, Path(folder), rng)
        print(f"EPSG:{code}: {says or 'as PROJ and GDAL have it'}", flush=True)
        failed += says is not None
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
