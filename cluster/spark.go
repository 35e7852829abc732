package cluster

import (
	"fmt"
	"strings"
)

// Script is a job for Spark, as a program in Python that spark-submit runs. It uses SQL's
// TRANSFORM, which also Spark Connect and serverless clusters know. A command that fails there
// fails its task.
type Script struct {
	Job    Job
	Tasks  int      // maps that are given their number, a line, and find their part by themselves
	Inputs []string // without Tasks: paths or addresses that Spark reads, of lines
	Parts  string   // the folder where the reduces' streams go, or its address
	// Map and Reduce are the commands of the stages, word by word; the second may be none.
	Map, Reduce []string
	SplitBytes  int64 // of the input for each map, about; 0: Spark's default
	Reduces     int   // 0: Spark's default
}

// Python is the program.
func (s *Script) Python() string {
	conf := ""
	if s.SplitBytes > 0 {
		conf += fmt.Sprintf("spark.conf.set(\"spark.sql.files.maxPartitionBytes\", %d)\n", s.SplitBytes)
	}
	if s.Reduces > 0 {
		conf += fmt.Sprintf("spark.conf.set(\"spark.sql.shuffle.partitions\", %d)\n", s.Reduces)
	}
	source := fmt.Sprintf(`# Each map is given its number, and finds its part by itself.
documents = spark.range(0, %d, 1, %d).selectExpr("CAST(id AS STRING) AS value")
VALUE = "value"`, s.Tasks, s.Tasks)
	if s.Tasks == 0 {
		inputs := make([]string, len(s.Inputs))
		for i, path := range s.Inputs {
			inputs[i] = pythonString(path)
		}
		source = fmt.Sprintf(`# Only a newline ends a line, as everywhere in Collocate. Bytes that are no UTF-8 would become other
# characters on their way to the worker, so they are an error.
documents = spark.read.option("lineSep", "\n").text([%s])
VALUE = "validate_utf8(value)"`, strings.Join(inputs, ", "))
	}
	reduce := `reduced = spark.table("mapped")`
	if s.Reduce != nil {
		reduce = "REDUCE = " + pythonString(ShellLine(s.Reduce)) + sparkReduce
	}
	return strings.NewReplacer(
		"@job", string(s.Job), "@conf", conf, "@source", source, "@parts", pythonString(s.Parts),
		"@map", pythonString(ShellLine(s.Map)), "@reduce", reduce,
	).Replace(sparkProgram)
}

const sparkProgram = `# Job @job of Collocate, written by 'collocate cluster spark'.
from pyspark.sql import SparkSession

MAP = @map
COLUMNS = "(kind STRING, key BIGINT, payload STRING)"
TABS = r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t'"


def literal(text):
    """text as a string of SQL"""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


spark = SparkSession.builder.appName("collocate @job").getOrCreate()
@conf
@source
documents.createOrReplaceTempView("documents")
spark.sql(
    f"SELECT TRANSFORM ({VALUE}) {TABS} USING {literal(MAP)} AS {COLUMNS} {TABS} FROM documents"
).createOrReplaceTempView("mapped")
@reduce
# A field that is null is left out here, and the merge refuses what is left of its record.
rows = reduced.selectExpr("concat_ws('\t', kind, CAST(key AS STRING), payload) AS value")
rows.write.mode("overwrite").text(@parts)
spark.stop()
`

const sparkReduce = `
reduced = spark.sql(
    f"SELECT TRANSFORM (kind, key, payload) {TABS} USING {literal(REDUCE)} AS {COLUMNS} {TABS} "
    "FROM (SELECT * FROM mapped DISTRIBUTE BY key SORT BY key)"
)`

// pythonString is a string as Python reads it.
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

// ShellLine is a command as a shell reads it.
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
