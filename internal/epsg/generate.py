"""Writes epsg.txt and values to check it with. Needs pyproj 3.7.2, which brings PROJ's database.

python3 generate.py epsg.txt ../../points/testdata/epsg.csv   the table, and a sample of values
python3 generate.py epsg.txt all.csv --all                    values of every system, for
EPSG_CHECK=all.csv go test -run TestEPSG ./points

The table has lines of fields with tabs between them, in the order of their codes:

4314  DHDN  6377397.155 299.1528128  0  598.1 73.7 418.2 0.202 0.045 -2.455 6.7  3  5 47 16 56
25832 4258  ~ / UTM zone 32N  utm zone=32  6 37 12 85

A line of longitudes and latitudes has a name, the semi-major axis and inverse flattening (0: a
sphere), the prime meridian, and the Helmert transformation to WGS 84 (position vector) with its
accuracy in metres. The transformation is - if none is known, and empty if it is the identity.
A line of a projection has the system of its longitudes and latitudes, a name, and the parameters
of a PROJ string. A name that begins with ~ has the name of that system in its place. Both end with
the area of use in whole degrees: west, south, east and north. A line of a system with heights has
an equals sign and the number of its system of positions: 7415 =28992.
"""
import math, random, re, sys, warnings

import pyproj
from pyproj.enums import TransformDirection as Direction
from pyproj.transformer import TransformerGroup

warnings.filterwarnings("ignore")
pyproj.network.set_network_enabled(False)
METHODS = ("utm tmerc lcc aea laea merc webmerc stere sterea cass omerc somerc krovak poly cea eqc "
           "eqearth nzmg col_urban").split()
SHIFTLESS = re.compile(r"proj=(noop|axisswap|unitconvert|pipeline|push|pop|cart)\b")


def number(text):
    return ("%.15g" % float(text)) if text else "0"


def helmert(op):
    """Returns the seven parameters of an operation, [] for the identity, or None."""
    text = op.to_proj4() or ""
    if "proj=helmert" not in text:
        plain = all(SHIFTLESS.search(s) for s in text.split("step") if "proj=" in s)
        return [] if plain and text else None
    if text.count("proj=helmert") != 1 or re.search("hgridshift|gridshift|molo|geogoffset|affine|deformation", text):
        return None
    step = next(s for s in text.split("step") if "proj=helmert" in s)
    values = [float((re.search(r"\b%s=(\S+)" % k, step) or [0, 0])[1]) for k in "x y z rx ry rz s".split()]
    if "convention=coordinate_frame" in step:
        values[3:6] = [-v for v in values[3:6]]
    if re.search(r"(^|\s)inv\s", step.split("proj=helmert")[0]):
        values = [-v for v in values]
    return values if any(values) else []


def local(system):
    """Returns a function from degrees of Greenwich to the longitudes and latitudes of a system."""
    pm, unit = meridian(system), system.axis_info[0].unit_conversion_factor / 0.017453292519943295
    return lambda lon, lat: ((lon - pm) / unit, lat / unit)


def meridian(system):
    pm = system.prime_meridian
    return pm.longitude * pm.unit_conversion_factor / 0.017453292519943295


def same_shift(op, values, system, area):
    """Whether the parameters give what the operation gives, to a millimetre."""
    e, at = system.ellipsoid, local(system)
    figure = "a=%r b=%r" % (e.semi_major_metre, e.semi_minor_metre)
    shift = ("+step +proj=helmert +convention=position_vector x=%r y=%r z=%r rx=%r ry=%r rz=%r s=%r "
             % tuple(values)) if values else ""
    own = pyproj.Transformer.from_pipeline(
        "+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step +proj=cart %s %s"
        "+step +inv +proj=cart +ellps=WGS84 +step +proj=unitconvert +xy_in=rad +xy_out=deg" % (figure, shift))
    for lon, lat in inside(area, 5):
        a, b = op.transform(*at(lon, lat)), own.transform(lon, lat, 0)
        if not (abs(a[0] - b[0]) < 2e-8 and abs(a[1] - b[1]) < 1e-8):
            return False
    return True


def whole(area):
    west, south, east, north = area
    return "%d %d %d %d" % (math.floor(west), math.floor(south), math.ceil(east), math.ceil(north))


def inside(area, n):
    west, south, east, north = area
    if east < west:
        east += 360
    draw = random.Random(1)
    for _ in range(n):
        lon = west + (0.05 + 0.9 * draw.random()) * (east - west)
        yield (lon + 180) % 360 - 180, south + (0.05 + 0.9 * draw.random()) * (north - south)


def geographic(code):
    crs = pyproj.CRS.from_epsg(code)
    if crs.area_of_use is None:
        return None
    unit = crs.axis_info[0].unit_name
    e, area = crs.ellipsoid, crs.area_of_use.bounds
    shift, accuracy, found = "-", "", None
    try:
        ops = TransformerGroup(code, 4326, always_xy=True, allow_ballpark=False).transformers
    except (pyproj.exceptions.ProjError, IndexError):  # none
        ops = []
    for op in ops:
        values = helmert(op)
        if values is None or not same_shift(op, values, crs, area):
            continue
        shift, found = " ".join(number(v) for v in values), op
        accuracy = number(op.accuracy) if op.accuracy and op.accuracy > 0 else ""
        break
    inverse = number(e.inverse_flattening) if e.inverse_flattening else "0"
    return [str(code), crs.name, "%s %s" % (number(e.semi_major_metre), inverse), number(meridian(crs)),
            shift, accuracy, whole(area)], found, unit == "degree"


def projected(code, bases):
    crs = pyproj.CRS.from_epsg(code)
    base = crs.geodetic_crs
    base_code = base.to_epsg(min_confidence=100) if base else None
    try:
        words = crs.to_proj4().split()
    except pyproj.exceptions.CRSError:
        return None
    if base_code not in bases or not crs.area_of_use:
        return None
    keep = [w.lstrip("+") for w in words]
    method = dict(w.partition("=")[::2] for w in keep)["proj"]
    if method not in METHODS or any(w.startswith(("nadgrids", "wktext")) for w in keep) and method != "merc":
        return None
    towards = {a.direction for a in crs.axis_info}
    if ("west" in towards or towards == {"south", "east"}) and not any(w.startswith("axis=") for w in keep):
        return None  # PROJ strings do not say its directions
    if any(w.startswith("k=") and float(w[2:]) < 0.5 for w in keep):
        return None  # San Francisco's scale factor is a mistake
    if method == "merc" and "nadgrids=@null" in keep:
        method, keep = "webmerc", [w for w in keep if w.startswith(("lon_0", "x_0", "y_0", "units"))]
    sphere = []
    if re.search("Spherical", crs.coordinate_operation.method_name):
        sphere = [w for w in keep if w.startswith(("R=", "a=", "b="))]
    drop = ("proj", "datum", "ellps", "towgs84", "a", "b", "rf", "R", "pm", "no_defs", "type", "nadgrids",
            "wktext", "vunits", "geoidgrids")
    keep = [w for w in keep if w.partition("=")[0] not in drop]
    keep = [w for w in keep if w not in ("x_0=0", "y_0=0", "lat_0=0", "lon_0=0", "k=1", "k_0=1", "units=m",
                                         "gamma=0", "h_0=0")]
    name = crs.name
    if name.startswith(bases[base_code][1] + " "):
        name = "~" + name[len(bases[base_code][1]):]
    return [str(code), str(base_code), name, " ".join([method] + keep + sphere),
            whole(crs.area_of_use.bounds)]


def values(code, base, op, area, n):
    """Checks: x, y; longitude and latitude in its own datum; the same in WGS 84, if known."""
    rows, at = [], local(pyproj.CRS.from_epsg(base or code))
    if base is None:
        for lon, lat in inside(area, n):
            rows.append(at(lon, lat) + (lon, lat) + (op.transform(*at(lon, lat)) if op else ("", "")))
    else:
        project = pyproj.Transformer.from_crs(base, code, always_xy=True)
        for lon, lat in inside(area, 50):
            x, y = project.transform(*at(lon, lat))
            back, want = project.transform(x, y, direction=Direction.INVERSE), at(lon, lat)
            if not (abs(back[1] - want[1]) < 1e-9 and abs(back[0] - want[0]) < 1e-8):
                continue  # outside what the projection can show
            rows.append((x, y, lon, lat) + (op.transform(*at(lon, lat)) if op else ("", "")))
            if len(rows) == n:
                break
    text = lambda v, digits: v if v == "" else ("%.*f" % (digits, v)).rstrip("0").rstrip(".")
    return [",".join([str(code)] + [text(v, 5 if base and i < 2 else 11) for i, v in enumerate(r)]) for r in rows]


def positions(code, known):
    """Returns the line of a system with heights, or None."""
    crs = pyproj.CRS.from_epsg(code)
    flat = (crs.sub_crs_list[0] if crs.is_compound else crs.to_2d()).to_epsg()
    return [str(code), "=%d" % flat] if flat in known else None


def main():
    every = "--all" in sys.argv
    codes = lambda kind: sorted({int(i.code) for i in pyproj.database.query_crs_info("EPSG", kind, allow_deprecated=True)})
    bases, ops, lines, checks = {}, {}, [], []
    for code in codes(pyproj.enums.PJType.GEOGRAPHIC_2D_CRS):
        found = geographic(code)
        if found:
            bases[code], ops[code], degrees = found
            if not degrees:
                bases[code][1] += " (grads)"  # of projections only
            lines.append(bases[code])
    used, counts, skipped = set(), {}, 0
    for code in codes(pyproj.enums.PJType.PROJECTED_CRS):
        line = projected(code, bases)
        if line is None:
            skipped += 1
            continue
        base = int(line[1])
        got = values(code, base, ops[base], pyproj.CRS.from_epsg(code).area_of_use.bounds, 5 if every else 1)
        if not got:
            skipped += 1
            continue
        lines.append(line)
        method = line[3].split()[0]
        counts[method] = counts.get(method, 0) + 1
        names = tuple(sorted(w.split("=")[0] for w in line[3].split()))
        if every or (method, names) not in used or (base, "") not in used or counts[method] % 100 == 0:
            used |= {(method, names), (base, "")}
            checks += got
    for code in bases:
        if every and "(grads)" not in bases[code][1]:
            checks += values(code, None, ops[code], pyproj.CRS.from_epsg(code).area_of_use.bounds, 5)
    known = {int(l[0]) for l in lines if "(grads)" not in l[1]}
    for kind in (pyproj.enums.PJType.COMPOUND_CRS, pyproj.enums.PJType.GEOGRAPHIC_3D_CRS):
        lines += filter(None, (positions(code, known) for code in codes(kind)))
    lines.sort(key=lambda l: int(l[0]))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.writelines("\t".join(l).rstrip("\t") + "\n" for l in lines)
    with open(sys.argv[2], "w") as out:
        out.write("code,x,y,longitude,latitude,wgs84_longitude,wgs84_latitude\n")
        out.writelines(c + "\n" for c in checks)
    shifts = sum(1 for c in bases.values() if c[4] != "-")
    print("%d geographic (%d with a shift), %d projected, %d left out, %s" %
          (len(bases), shifts, sum(counts.values()), skipped, counts))


main()
