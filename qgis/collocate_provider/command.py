"""Runs the collocate command on the points of layers."""

import csv
import json
import os
import subprocess
import threading

from processing.core.ProcessingConfig import ProcessingConfig
from qgis.core import (
    QgsCoordinateTransform,
    QgsGeometry,
    QgsProcessingException,
    QgsWkbTypes,
)

SETTING = "COLLOCATE_COMMAND"


def command():
    """The command: that of the settings, of the environment variable COLLOCATE, or of the path."""
    return ProcessingConfig.getSetting(SETTING) or os.environ.get("COLLOCATE") or "collocate"


def write_points(source, field, time_field, path, feedback):
    """Writes the points of a source as CSV. Returns the arguments that say how to read them."""
    names = source.fields().names()
    left_out = 0
    with open(path, "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        rows.writerow(["x", "y", "feature", "time"])
        count = max(1, source.featureCount())
        for n, one in enumerate(source.getFeatures()):
            if feedback.isCanceled():
                raise QgsProcessingException("cancelled")
            feedback.setProgress(10 * n / count)
            kind = one[names.index(field)]
            geometry = one.geometry()
            if geometry.isEmpty() or kind is None or str(kind) in ("", "NULL"):
                left_out += 1
                continue
            time = ""
            if time_field:
                time = one[names.index(time_field)]
                time = time.toString("yyyy-MM-ddTHH:mm:ss") if hasattr(time, "toString") else time
            for point in geometry.constParts() if geometry.isMultipart() else [geometry.constGet()]:
                rows.writerow([repr(point.x()), repr(point.y()), str(kind), time])
    if left_out:
        feedback.pushWarning(f"left out {left_out} features without a geometry or a value of {field}")
    args = ["--x", "x", "--y", "y", "--feature", "feature", *system(source.sourceCrs())]
    return [*args, "--time", "time"] if time_field else args


def system(crs):
    """The arguments for a reference system: its EPSG code, its PROJ string, or a plane."""
    if not crs.isValid():
        return ["--planar"]
    if crs.authid().startswith("EPSG:"):
        return ["--crs", crs.authid()]
    return ["--crs", crs.toProj()]


def write_window(source, crs, context, path):
    """Writes the polygons of a source as well-known text, in the reference system of the points."""
    to = QgsCoordinateTransform(source.sourceCrs(), crs, context.transformContext())
    if not (source.sourceCrs().isValid() and crs.isValid()):
        to = QgsCoordinateTransform()
    parts = []
    for one in source.getFeatures():
        geometry = QgsGeometry(one.geometry())
        if geometry.isEmpty():
            continue
        if QgsWkbTypes.isCurvedType(geometry.wkbType()):
            geometry = QgsGeometry(geometry.constGet().segmentize())
        geometry.transform(to)
        geometry.get().dropZValue()
        geometry.get().dropMValue()
        geometry.convertToMultiType()
        parts.append(geometry.asWkt(17).partition("(")[2][:-1])
    if not parts:
        raise QgsProcessingException("the study area has no polygon")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"MULTIPOLYGON ({', '.join(parts)})")


def run(args, feedback):
    """Runs the command, shows its notes, and returns its output. Cancelling ends it."""
    args = [command(), *args]
    feedback.pushCommandInfo(subprocess.list2cmdline(args))
    try:
        process = subprocess.Popen(
            args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8",
        )  # fmt: skip
    except OSError as e:
        raise QgsProcessingException(
            f"{args[0]}: {e}. Install the collocate command, and name it in the settings of "
            "Processing, under Collocate, if it is not on the search path"
        ) from e
    notes, out = [], []

    def read_notes():
        for line in process.stderr:
            notes.append(line.rstrip())
            feedback.pushInfo(line.rstrip())

    def read_out():
        out.append(process.stdout.read())

    readers = [threading.Thread(target=read_notes), threading.Thread(target=read_out)]
    for reader in readers:
        reader.start()
    while True:
        try:
            process.wait(0.2)
            break
        except subprocess.TimeoutExpired:
            if feedback.isCanceled():
                process.terminate()
    for reader in readers:
        reader.join()
    if feedback.isCanceled():
        raise QgsProcessingException("cancelled")
    if process.returncode != 0:
        raise QgsProcessingException(notes[-1] if notes else f"exit status {process.returncode}")
    return out[0]


def run_json(args, feedback):
    """Runs the command with --json."""
    return json.loads(run([*args, "--json"], feedback))
