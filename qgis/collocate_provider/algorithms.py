"""The algorithms: patterns, curves, quotients and a summary of a layer of points."""

import csv
import os
import tempfile

from qgis.core import (
    QgsFeature,
    QgsFeatureSink,
    QgsField,
    QgsFields,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingOutputNumber,
    QgsProcessingParameterDistance,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QVariant

from . import command

NULLS = ["inhomogeneous", "shift", "relabel", "cluster", "times"]
ADJUSTS = ["fdr", "max"]


class OfPoints(QgsProcessingAlgorithm):
    """What all algorithms have: a layer of points with a field of kinds, and a study area."""

    POINTS, FIELD, WINDOW, ROUNDS, SEED, ADJUST = "POINTS", "FIELD", "WINDOW", "ROUNDS", "SEED", "ADJUST"

    def createInstance(self):  # noqa: N802
        return type(self)()

    def group(self):
        return ""

    def groupId(self):  # noqa: N802
        return ""

    def add_points(self):
        self.addParameter(QgsProcessingParameterFeatureSource(
            self.POINTS, "Points", [QgsProcessing.TypeVectorPoint]))  # fmt: skip
        self.addParameter(QgsProcessingParameterField(
            self.FIELD, "Field with the kind of place", parentLayerParameterName=self.POINTS))  # fmt: skip
        self.addParameter(QgsProcessingParameterFeatureSource(
            self.WINDOW, "Study area (estimated without one)", [QgsProcessing.TypeVectorPolygon],
            optional=True))  # fmt: skip

    def add_tests(self, rounds, text):
        self.addParameter(QgsProcessingParameterNumber(
            self.ROUNDS, text, defaultValue=rounds, minValue=0))  # fmt: skip
        self.addParameter(QgsProcessingParameterEnum(
            self.ADJUST, "q corrects by", ["false discovery rate", "step-down maximum"], defaultValue=0))  # fmt: skip
        self.addParameter(QgsProcessingParameterNumber(
            self.SEED, "Seed of the rounds", defaultValue=1, minValue=0))  # fmt: skip

    def reading(self, parameters, context, folder, feedback, time_field=""):
        """Writes the layers, and returns the file of points and how to read it."""
        source = self.parameterAsSource(parameters, self.POINTS, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, self.POINTS))
        path = os.path.join(folder, "points.csv")
        field = self.parameterAsString(parameters, self.FIELD, context)
        args = [path, *command.write_points(source, field, time_field, path, feedback)]
        window = self.parameterAsSource(parameters, self.WINDOW, context)
        if window is not None:
            area = os.path.join(folder, "window.wkt")
            command.write_window(window, source.sourceCrs(), context, area)
            args += ["--window", area, "--clip"]
        return source.sourceCrs(), args

    def tests(self, parameters, context, rounds_flag):
        rounds = self.parameterAsInt(parameters, self.ROUNDS, context)
        if rounds == 0:
            return [rounds_flag, "0"]
        return [rounds_flag, str(rounds),
                "--seed", str(self.parameterAsInt(parameters, self.SEED, context)),
                "--adjust", ADJUSTS[self.parameterAsEnum(parameters, self.ADJUST, context)]]  # fmt: skip

    def table(self, parameters, name, context, columns, rows):
        """Writes rows to a sink without geometries. Columns are pairs of a name and a type."""
        fields = QgsFields()
        for column, kind in columns:
            fields.append(QgsField(column, kind))
        sink, at = self.parameterAsSink(parameters, name, context, fields, QgsWkbTypes.NoGeometry)
        if sink is None:
            raise QgsProcessingException(self.invalidSinkError(parameters, name))
        for row in rows:
            feature = QgsFeature(fields)
            feature.setAttributes(list(row))
            sink.addFeature(feature, QgsFeatureSink.FastInsert)
        return at

    def sink(self, name, text, kind=QgsProcessing.TypeVector, **more):
        self.addParameter(QgsProcessingParameterFeatureSink(name, text, kind, **more))

    def file(self, name, text, ending):
        self.addParameter(QgsProcessingParameterFileDestination(
            name, text, ending, optional=True, createByDefault=False))  # fmt: skip

    def chosen(self, parameters, name, context):
        """The path of a file to write; "" if none is wanted."""
        return self.parameterAsFileOutput(parameters, name, context) if parameters.get(name) else ""


NUMBER, TEXT, WHOLE = QVariant.Double, QVariant.String, QVariant.LongLong


class Patterns(OfPoints):
    """collocate places"""

    DISTANCE, LEAST, NULL, TIME, WITHIN = "DISTANCE", "MIN_PREVALENCE", "NULL", "TIME", "WITHIN"
    TABLE, PARTICIPANTS, INSTANCES, HTML = "OUTPUT", "PARTICIPANTS", "INSTANCES", "HTML"

    def name(self):
        return "patterns"

    def displayName(self):  # noqa: N802
        return "Co-location patterns"

    def shortHelpString(self):  # noqa: N802
        return (
            "Sets of kinds of places whose points are often mutual neighbours, by their "
            "participation index: the least share of a kind's points that take part. With rounds, "
            "each index is compared with a null model in which kinds are independent of each "
            "other: expected index, ratio, p and q. Distances are metres for longitudes and "
            "latitudes, and otherwise in the unit of the layer."
        )

    def initAlgorithm(self, config=None):  # noqa: N802
        self.add_points()
        self.addParameter(QgsProcessingParameterDistance(
            self.DISTANCE, "Neighbours are at most this far apart (0: as the summary suggests)",
            defaultValue=0, parentParameterName=self.POINTS, minValue=0))  # fmt: skip
        self.addParameter(QgsProcessingParameterNumber(
            self.LEAST, "Least participation index", QgsProcessingParameterNumber.Double,
            defaultValue=0.2, minValue=0, maxValue=1))  # fmt: skip
        self.add_tests(99, "Rounds of the null model (0: no test)")
        self.addParameter(QgsProcessingParameterEnum(self.NULL, "Null model", NULLS, defaultValue=0))
        self.addParameter(QgsProcessingParameterField(
            self.TIME, "Field with the time", parentLayerParameterName=self.POINTS, optional=True))  # fmt: skip
        self.addParameter(QgsProcessingParameterString(
            self.WITHIN, "Neighbours are at most this long apart, such as 7d", optional=True))  # fmt: skip
        self.sink(self.TABLE, "Patterns")
        self.sink(self.PARTICIPANTS, "Participating points", QgsProcessing.TypeVectorPoint,
                  optional=True, createByDefault=False)  # fmt: skip
        self.sink(self.INSTANCES, "Instances", QgsProcessing.TypeVectorLine,
                  optional=True, createByDefault=False)  # fmt: skip
        self.file(self.HTML, "Interactive map", "HTML (*.html)")
        self.addOutput(QgsProcessingOutputNumber("PATTERNS", "Number of patterns"))

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        with tempfile.TemporaryDirectory() as folder:
            time = self.parameterAsString(parameters, self.TIME, context)
            within = self.parameterAsString(parameters, self.WITHIN, context)
            if bool(time) != bool(within):
                raise QgsProcessingException("a field with the time needs how long apart, and the reverse")
            _, args = self.reading(parameters, context, folder, feedback, time)
            distance = self.parameterAsDouble(parameters, self.DISTANCE, context)
            args = ["places", *args, "--distance", repr(distance) if distance else "auto",
                    "--min-prevalence", repr(self.parameterAsDouble(parameters, self.LEAST, context))]  # fmt: skip
            if self.parameterAsInt(parameters, self.ROUNDS, context):
                args += self.tests(parameters, context, "--significance")
                args += ["--null", NULLS[self.parameterAsEnum(parameters, self.NULL, context)]]
            if within:
                args += ["--within", within]
            layers = ""
            if parameters.get(self.PARTICIPANTS) or parameters.get(self.INSTANCES):
                layers = os.path.join(folder, "layers.gpkg")
                args += ["--geopackage", layers]
            html = self.chosen(parameters, self.HTML, context)
            if html:
                args += ["--html", html]
            answer = command.run_json(args, feedback)
            found = answer["patterns"]
            columns = [("pattern", TEXT), ("size", WHOLE), ("participation_index", NUMBER),
                       ("expected_index", NUMBER), ("ratio", NUMBER), ("p_value", NUMBER),
                       ("q_value", NUMBER), ("participating_points", TEXT), ("distance", NUMBER),
                       ("unit", TEXT), ("null_model", TEXT), ("rounds", WHOLE),
                       ("study_area", NUMBER), ("bandwidth", NUMBER)]  # fmt: skip
            test = [answer.get(name) for name in
                    ("distance", "unit", "null", "rounds", "study_area", "bandwidth")]  # fmt: skip
            rows = ((", ".join(p["features"]), len(p["features"]), p["participation_index"],
                     *(p.get(name) for name in ("expected_index", "ratio", "p_value", "q_value")),
                     "; ".join(f"{f} {s['points']}/{s['total']}" for f, s in p["participation"].items()),
                     *test)
                    for p in found)  # fmt: skip
            out = {self.TABLE: self.table(parameters, self.TABLE, context, columns, rows),
                   "PATTERNS": len(found)}  # fmt: skip
            for name, layer in ((self.PARTICIPANTS, "points"), (self.INSTANCES, "instances")):
                if parameters.get(name):
                    out[name] = self.copy(parameters, name, context, f"{layers}|layername={layer}")
            if html:
                out[self.HTML] = html
            return out

    def copy(self, parameters, name, context, path):
        """Copies a layer that the command has written to a sink."""
        layer = QgsVectorLayer(path, name, "ogr")
        if not layer.isValid():
            raise QgsProcessingException(f"{path} is no layer")
        fields = QgsFields(layer.fields())
        fields.remove(fields.indexOf("fid"))
        sink, at = self.parameterAsSink(
            parameters, name, context, fields, layer.wkbType(), layer.crs()
        )
        for one in layer.getFeatures():
            feature = QgsFeature(fields)
            feature.setAttributes([one[f] for f in fields.names()])
            feature.setGeometry(one.geometry())
            sink.addFeature(feature, QgsFeatureSink.FastInsert)
        return at


class Curves(OfPoints):
    """collocate places curve"""

    MOST, OF, NEAR, NULL, TABLE, SVG = "MAX_DISTANCE", "OF", "NEAR", "NULL", "OUTPUT", "SVG"

    def name(self):
        return "curves"

    def displayName(self):  # noqa: N802
        return "Curves by distance"

    def shortHelpString(self):  # noqa: N802
        return (
            "At which distances two kinds of places attract or avoid each other: cross K and L, "
            "pair correlation and participation index, with a global envelope of rounds of a null "
            "model. The table has a row for each pair and distance. Without kinds, all pairs are "
            "computed and the ten strongest written; kinds are names with commas between them."
        )

    def initAlgorithm(self, config=None):  # noqa: N802
        self.add_points()
        self.addParameter(QgsProcessingParameterDistance(
            self.MOST, "Largest distance (0: as far as edges can be corrected well)",
            defaultValue=0, parentParameterName=self.POINTS, minValue=0))  # fmt: skip
        self.addParameter(QgsProcessingParameterString(self.OF, "One kind is one of", optional=True))
        self.addParameter(QgsProcessingParameterString(self.NEAR, "The other is one of", optional=True))
        self.add_tests(99, "Rounds of the null model (0: no envelope)")
        self.addParameter(QgsProcessingParameterEnum(self.NULL, "Null model", NULLS[:4], defaultValue=0))
        self.sink(self.TABLE, "Curves")
        self.file(self.SVG, "Plot", "SVG (*.svg)")

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        with tempfile.TemporaryDirectory() as folder:
            _, args = self.reading(parameters, context, folder, feedback)
            table = os.path.join(folder, "curves.csv")
            args = ["places", "curve", *args, "--csv", table,
                    *self.tests(parameters, context, "--rounds"),
                    "--null", NULLS[self.parameterAsEnum(parameters, self.NULL, context)]]  # fmt: skip
            for flag, name in (("--max-distance", self.MOST), ("--of", self.OF), ("--near", self.NEAR)):
                value = parameters.get(name)
                if value:
                    args += [flag, str(value)]
            svg = self.chosen(parameters, self.SVG, context)
            if svg:
                args += ["--svg", svg]
            command.run(args, feedback)
            with open(table, newline="", encoding="utf-8") as f:
                rows = csv.reader(f)
                head = next(rows)
                texts = {"a", "b", "what", "unit", "null"}
                columns = [(name, TEXT if name in texts else NUMBER) for name in head]
                typed = ([v if name in texts else float(v) if v else None
                          for name, v in zip(head, row)] for row in rows)  # fmt: skip
                out = {self.TABLE: self.table(parameters, self.TABLE, context, columns, typed)}
            if svg:
                out[self.SVG] = svg
            return out


class Quotients(OfPoints):
    """collocate places pairs"""

    DISTANCE, KNN, TABLE = "DISTANCE", "KNN", "OUTPUT"

    def name(self):
        return "quotients"

    def displayName(self):  # noqa: N802
        return "Colocation quotients"

    def shortHelpString(self):  # noqa: N802
        return (
            "For every ordered pair of kinds, how much more often than by chance the neighbours of "
            "points of one are of the other: 1 is chance, more attraction, less avoidance. p is "
            "two-sided, by random permutations of the kinds; q corrects it for all pairs."
        )

    def initAlgorithm(self, config=None):  # noqa: N802
        self.add_points()
        self.addParameter(QgsProcessingParameterNumber(
            self.KNN, "Number of nearest neighbours (0: by distance)", defaultValue=8, minValue=0))  # fmt: skip
        self.addParameter(QgsProcessingParameterDistance(
            self.DISTANCE, "Neighbours are at most this far apart (0: any)", defaultValue=0,
            parentParameterName=self.POINTS, minValue=0))  # fmt: skip
        self.add_tests(999, "Permutations (0: no test)")
        self.sink(self.TABLE, "Quotients")

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        with tempfile.TemporaryDirectory() as folder:
            _, args = self.reading(parameters, context, folder, feedback)
            args = ["places", "pairs", *args, *self.tests(parameters, context, "--rounds")]
            knn = self.parameterAsInt(parameters, self.KNN, context)
            distance = self.parameterAsDouble(parameters, self.DISTANCE, context)
            args += ["--knn", str(knn)] if knn else []
            args += ["--distance", repr(distance)] if distance else []
            found = command.run_json(args, feedback)["pairs"]
            columns = [("of", TEXT), ("near", TEXT), ("points", WHOLE), ("participating", WHOLE),
                       ("total", WHOLE), ("quotient", NUMBER), ("p_value", NUMBER), ("q_value", NUMBER)]  # fmt: skip
            rows = ([pair.get(name) for name, _ in columns] for pair in found)
            return {self.TABLE: self.table(parameters, self.TABLE, context, columns, rows)}


class Summary(OfPoints):
    """collocate places summary"""

    TEXT_FILE = "OUTPUT"

    def name(self):
        return "summary"

    def displayName(self):  # noqa: N802
        return "Summary of points"

    def shortHelpString(self):  # noqa: N802
        return (
            "Points and kinds, likely faults in positions, distances between neighbours, and which "
            "distances are worth mining."
        )

    def initAlgorithm(self, config=None):  # noqa: N802
        self.add_points()
        self.file(self.TEXT_FILE, "Text", "Text (*.txt)")
        for name, text in (("LOW", "Least distance worth mining"), ("SUGGESTED", "Suggested distance"),
                           ("HIGH", "Largest distance worth mining")):  # fmt: skip
            self.addOutput(QgsProcessingOutputNumber(name, text))

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        with tempfile.TemporaryDirectory() as folder:
            _, args = self.reading(parameters, context, folder, feedback)
            text = command.run(["places", "summary", *args], feedback)
            feedback.pushInfo(text)
            found = command.run_json(["places", "summary", *args], feedback)
            out = {"LOW": found.get("distance_low"), "SUGGESTED": found.get("distance_suggested"),
                   "HIGH": found.get("distance_high")}  # fmt: skip
            path = self.chosen(parameters, self.TEXT_FILE, context)
            if path:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                out[self.TEXT_FILE] = path
            return out
