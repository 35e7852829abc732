package cluster

import (
	"fmt"
	"strings"
)

// Script is a job for Spark: a Python program that spark-submit runs. It uses SQL's TRANSFORM,
// which Spark Connect and serverless clusters support, too. If a command fails, its task fails.
type Script struct {
	Job Job // what the job computes; part of the name that Spark shows
	// Tasks is the number of maps. Each is given its number on a line and finds its part by itself.
	// 0 means that Spark reads Inputs and splits them.
	Tasks      int
	Inputs     []string // if Tasks is 0: paths or addresses of lines that Spark reads
	SplitBytes int64    // about the size of each map's input; 0 means Spark's default
	Steps      []Step   // run one after the other
}

// Step is a map over all documents, optionally followed by a reduce.
type Step struct {
	// Map and Reduce are the commands of the stages as lists of words. Reduce may be empty.
	Map, Reduce []string
	Reduces     int      // number of reduces; 0 means Spark's default
	Parts       string   // folder or address for the streams
	Then        []string // command that Spark's driver runs afterwards, if any
}

// Python returns the text of the program.
func (s *Script) Python() string {
	conf := ""
	if s.SplitBytes > 0 {
		conf = fmt.Sprintf("spark.conf.set(\"spark.sql.files.maxPartitionBytes\", %d)\n", s.SplitBytes)
	}
	source := fmt.Sprintf(`# Each map is given its number, and finds its part by itself. Rows are few, so that to compile
# queries takes longer than it saves.
spark.conf.set("spark.sql.codegen.wholeStage", False)
documents = spark.range(0, %d, 1, %d).selectExpr("CAST(id AS STRING) AS value")
VALUE = "value"`, s.Tasks, s.Tasks)
	if s.Tasks == 0 {
		source = fmt.Sprintf(`# Only a newline ends a line, as everywhere in Collocate. Bytes that are no UTF-8 would become other
# characters on their way to the worker, so they are an error.
documents = spark.read.option("lineSep", "\n").text(%s)
VALUE = "validate_utf8(value)"`, pythonList(s.Inputs))
	}
	steps := ""
	for _, step := range s.Steps {
		reduce := "None"
		if step.Reduce != nil {
			reduce = pythonString(ShellLine(step.Reduce))
		}
		steps += fmt.Sprintf("step(\n    %s,\n    %s,\n    %d,\n    %s,\n)\n",
			pythonString(ShellLine(step.Map)), reduce, step.Reduces, pythonString(step.Parts))
		if step.Then != nil {
			steps += fmt.Sprintf("subprocess.run(%s, check=True)\n", pythonList(step.Then))
		}
	}
	return strings.NewReplacer("@job", s.Job.String(), "@conf", conf, "@source", source, "@steps", steps).
		Replace(sparkProgram)
}

const sparkProgram = `# Job @job of Collocate, written by 'collocate cluster spark'.
import subprocess

from pyspark.sql import SparkSession

COLUMNS = "(kind STRING, key BIGINT, payload STRING)"
TABS = r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t'"


def pipe(columns, table, command):
    """the records that a command makes of the rows of a table"""
    quoted = command.replace("\\", "\\\\").replace("'", "\\'")
    return spark.sql(
        f"SELECT TRANSFORM ({columns}) {TABS} USING '{quoted}' AS {COLUMNS} {TABS} FROM {table}"
    )


def step(map, reduce, reduces, parts):
    """maps the documents, brings records with the same key together, and reduces them"""
    records = pipe(VALUE, "documents", map)
    if reduce:
        if reduces:
            # Records may name large files: as many reduces as were asked for, however small they are.
            spark.conf.set("spark.sql.adaptive.enabled", False)
            spark.conf.set("spark.sql.shuffle.partitions", reduces)
        records.createOrReplaceTempView("mapped")
        together = "(SELECT * FROM mapped DISTRIBUTE BY key SORT BY key)"
        records = pipe("kind, key, payload", together, reduce)
    # A field that is null is left out here, and the merge refuses what is left of its record.
    rows = records.selectExpr("concat_ws('\t', kind, CAST(key AS STRING), payload) AS value")
    rows.write.mode("overwrite").text(parts)


spark = SparkSession.builder.appName("collocate @job").getOrCreate()
@conf@source
documents.createOrReplaceTempView("documents")
@stepsspark.stop()
`

// pythonList returns a list of strings as a Python literal.
func pythonList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = pythonString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// pythonString returns a string as a Python literal.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ShellLine returns a command as one line of shell, with words quoted where necessary.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.Trim(w, shellSafe) != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

const shellSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=,:+@%"
