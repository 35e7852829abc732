package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/s3"
	"github.com/collocate/collocate/text"
)

// clusterFormat is the default of --format: engines split files between lines.
const clusterFormat = text.Lines

// runFlags are the flags of all jobs on all engines.
type runFlags struct {
	work, out, program string
	threads            int
	memory             bytesize.Size
	dryRun             bool
}

func (f *runFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.memory = bytesize.GB
	fl.StringVar(&f.work, "work", "", "folder for scripts and the output of workers, which all machines can read and write")
	fl.StringVarP(&f.out, "out", "o", "", "file or folder to write; a file may be in S3")
	fl.StringVar(&f.program, "program", "", "path of this program on the workers' machines (default its path on this machine)")
	fl.IntVar(&f.threads, "worker-threads", 1, "number of CPU threads of a worker")
	fl.Var(&f.memory, "worker-memory", "bound on the working memory of a worker")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the job instead of submitting it")
	must(cmd.MarkFlagRequired("work"))
	must(cmd.MarkFlagRequired("out"))
}

// prepare checks the flags and makes paths absolute, for other machines.
func (f *runFlags) prepare() (err error) {
	if f.threads < 1 {
		return usagef("--worker-threads %d: want 1 or more", f.threads)
	}
	if f.program == "" {
		if f.program, err = os.Executable(); err != nil {
			return err
		}
	}
	f.work, err = wholePath(f.work)
	return err
}

// parts returns the folder for the output of a job's workers.
func (f *runFlags) parts(job cluster.Job) string { return joinPath(f.work, job.String()+".parts") }

// worker returns the command line of a stage.
func (f *runFlags) worker(job cluster.Job, stage string) []string {
	return []string{
		f.program, "cluster", "worker", job.String(), stage, "--quiet", "--threads",
		strconv.Itoa(f.threads), "--memory", f.memory.String(),
	}
}

// engineFlags are the flags of jobs vocab and cooccur on an engine.
type engineFlags struct {
	clusterFlags
	runFlags
	flags *pflag.FlagSet
}

func (f *engineFlags) register(cmd *cobra.Command) {
	f.clusterFlags = newClusterFlags()
	f.corpus.register(cmd)
	f.words.register(cmd)
	f.registerPairs(cmd)
	f.runFlags.register(cmd)
	f.flags = cmd.Flags()
}

// prepare checks the flags and makes paths absolute, for other machines. What would fail only after
// all workers are done is refused here.
func (f *engineFlags) prepare(cmd *cobra.Command, job cluster.Job, paths []string) error {
	if err := f.check(cmd, job); err != nil {
		return err
	}
	if err := f.corpus.splittable(paths); err != nil {
		return err
	}
	if _, err := f.corpus.analyzer(); err != nil {
		return err
	}
	if _, err := cooccur.FormatOf(f.out); err != nil && job == cluster.Cooccur {
		return usageError{err}
	}
	if f.vocab != "" && !s3.Is(f.vocab) && !f.dryRun {
		if _, err := os.Stat(f.vocab); err != nil {
			return err
		}
	}
	for _, name := range []string{"stopwords", "schema", "skip-bad"} {
		if flag := f.flags.Lookup(name); flag != nil && flag.Changed {
			return usagef("--%s is not supported on clusters; leave it out", name)
		}
	}
	if err := f.runFlags.prepare(); err != nil || f.vocab == "" {
		return err
	}
	var err error
	f.vocab, err = wholePath(f.vocab)
	return err
}

// worker returns the command line of a stage.
func (f *engineFlags) worker(job cluster.Job, stage, vocab string) []string {
	words := f.runFlags.worker(job, stage)
	if stage == "map" {
		words = append(words, f.said("format", "fields", "id-field", "encoding", "max-document", "analyzer")...)
		if job == cluster.Cooccur {
			words = append(append(words, "--vocab", vocab), f.said("window", "side", "weighting")...)
		}
	}
	return words
}

// merge returns the arguments of 'cluster merge', without the parts.
func (f *engineFlags) merge(job cluster.Job, vocab, out string) []string {
	words := []string{"cluster", "merge", job.String(), "--out", out}
	if job == cluster.Vocab {
		return append(words, f.said("min-count", "max-size", "ties", "keep-unk")...)
	}
	words = append(append(words, "--vocab", vocab), f.said("analyzer", "window", "side", "weighting")...)
	if f.vocab != "" { // it may be of another corpus
		words = append(words, "--foreign-vocab")
	}
	return words
}

// said returns those of the named flags that the user has set, as arguments.
func (f *engineFlags) said(names ...string) (words []string) {
	for _, name := range names {
		if flag := f.flags.Lookup(name); flag.Changed {
			words = append(words, "--"+name+"="+strings.Trim(flag.Value.String(), "[]"))
		}
	}
	return words
}

// steps returns the jobs to run for a job, and their output files: cooccur counts the vocabulary
// first, unless the user names one.
func (f *engineFlags) steps(job cluster.Job) (jobs []cluster.Job, outs []string, vocab string) {
	if job == cluster.Vocab {
		return []cluster.Job{job}, []string{f.out}, ""
	}
	if f.vocab != "" {
		return []cluster.Job{job}, []string{f.out}, f.vocab
	}
	vocab = joinPath(f.work, "vocab.txt")
	return []cluster.Job{cluster.Vocab, job}, []string{vocab, f.out}, vocab
}

// writeScript writes a script of a job.
func writeScript(path, text string) error {
	return atomicfile.WriteFile(path, func(w *atomicfile.File) error {
		_, err := w.Write([]byte(text))
		return err
	})
}

// run runs a program and shows its output. If it fails, the error contains the first error of a
// worker, which would otherwise be lost in hundreds of lines of Spark's log.
func (a *app) run(ctx context.Context, name string, args ...string) error {
	a.log.Info("run", "command", cluster.ShellLine(append([]string{name}, args...)))
	c := exec.CommandContext(ctx, name, args...)
	out := &workerError{to: a.stderr}
	c.Stdout, c.Stderr = out, out // equal, so os/exec calls Write from one goroutine only
	err := c.Run()
	switch {
	case err != nil && out.said != "":
		return fmt.Errorf("%s: %w: error of a worker: %s", filepath.Base(name), err, out.said)
	case err != nil:
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

// workerError copies the log of an engine and picks out the first error of a worker.
type workerError struct {
	to   io.Writer
	line []byte // the current line, at most its first 4096 bytes
	said string // the first error, empty until it is found
}

func (w *workerError) Write(p []byte) (int, error) {
	for rest := p; w.said == "" && len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		w.line = append(w.line, part[:min(len(part), max(0, 4096-len(w.line)))]...)
		if rest = after; !ended {
			break
		}
		if _, said, found := bytes.Cut(w.line, []byte(": collocate: ")); found {
			w.said = string(bytes.TrimSpace(said))
		}
		w.line = w.line[:0]
	}
	return w.to.Write(p)
}

// sparkFlags are the flags of Spark.
type sparkFlags struct {
	master, submit string
	conf           []string
	reduces        int
}

func (f *sparkFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.master, "master", "local[*]", "URL of Spark's master: local[*], spark://host:7077, yarn or k8s://...")
	fl.StringArrayVar(&f.conf, "conf", nil, "setting for spark-submit, such as spark.executor.memory=8g; may be given several times")
	fl.StringVar(&f.submit, "spark-submit", "", "path of spark-submit (default that of SPARK_HOME, or the one on the PATH)")
	fl.IntVar(&f.reduces, "reduces", 0, "number of reduce tasks; 0 means none for up to 8 maps, otherwise one per map, at most 200")
	group(cmd, "Spark", "master", "conf", "spark-submit", "reduces")
}

// start finds spark-submit and creates the folder of --work.
func (f *sparkFlags) start(r *runFlags) (err error) {
	if f.submit, err = findSubmit(f.submit); err != nil {
		return err
	}
	if s3.Is(r.work) {
		return nil
	}
	return os.MkdirAll(r.work, 0o755)
}

// lightJVM are settings for jobs whose workers read the input themselves. Spark itself has little
// to do then, and the optimising compiler of the JVM costs more than it saves: half of the CPU time
// of Spark's start.
var lightJVM = [][2]string{
	{"spark.driver.defaultJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
	{"spark.executor.defaultJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
}

// call returns the arguments of spark-submit for a program.
func (f *sparkFlags) call(s *cluster.Script, program string) []string {
	call := []string{"--master", f.master}
	if s.Tasks > 0 {
		for _, c := range lightJVM {
			said := func(conf string) bool { return strings.HasPrefix(conf, c[0]+"=") }
			if !slices.ContainsFunc(f.conf, said) {
				call = append(call, "--conf", c[0]+"="+c[1])
			}
		}
	}
	for _, c := range f.conf {
		call = append(call, "--conf", c)
	}
	return append(call, program)
}

// sparkFolder returns the URL of a folder for Spark, whose own client for S3 has the scheme s3a.
func sparkFolder(dir string) string {
	if s3.Is(dir) {
		return "s3a" + strings.TrimPrefix(dir, "s3")
	}
	return "file://" + dir
}

// run writes a job, submits it, and merges its output; with --dry-run it prints all of that.
func (f *sparkFlags) run(a *app, ctx context.Context, r *runFlags, s *cluster.Script, merge []string) error {
	program := joinPath(r.work, s.Job.String()+".py")
	if s3.Is(program) {
		dir, err := os.MkdirTemp("", "collocate-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, s.Job.String()+".py")
	}
	merge = append(merge, r.parts(s.Job))
	for i := range s.Steps {
		s.Steps[i].Parts = sparkFolder(s.Steps[i].Parts)
	}
	call := f.call(s, program)
	if r.dryRun {
		fmt.Fprintf(a.stdout, "%s\n# %s\n# %s\n", s.Python(),
			cluster.ShellLine(append([]string{"spark-submit"}, call...)),
			cluster.ShellLine(append([]string{"collocate"}, merge...)))
		return nil
	}
	if err := writeScript(program, s.Python()); err != nil {
		return err
	}
	if err := a.run(ctx, f.submit, call...); err != nil {
		return err
	}
	return a.again(ctx, merge)
}

func newClusterSparkCmd(a *app) *cobra.Command {
	var (
		f     engineFlags
		spark sparkFlags
		split bytesize.Size
	)
	cmd := &cobra.Command{
		Use:         "spark JOB CORPUS... --work DIR --out FILE",
		Short:       "Run a job on Apache Spark",
		Annotations: map[string]string{s3Annotation: "out work"},
		Long: `Run a job on Spark 4, with this program as the worker: vocab or cooccur, which are described
here, or weigh, index or places, each of which has a --help of its own.

A CORPUS is text with one document per line (with --format jsonl one JSON object). It may be files
and folders that all machines can read, or URLs in S3 (s3://bucket/folder): each worker reads its
part of these itself. Other URLs, such as hdfs://host/folder, are read by Spark. DIR may be in
S3, too: Spark's own client (s3a) writes the parts there.

The job is a Python program, JOB.py in DIR, which is run by spark-submit with --master and
--conf. It splits the corpus and pipes the parts through 'cluster worker JOB map', which writes
its counts to files in DIR. If there are many, they are grouped by ranges of words and added up by
'cluster worker JOB reduce'. Finally 'cluster merge' writes FILE on this machine: the same bytes
as 'collocate vocab' or 'collocate cooccur'. Job cooccur counts the vocabulary first, in the same
program, unless --vocab names one.`,
		Example: `  collocate cluster spark vocab /data/news --master spark://head:7077 --work /data/job --out vocab.txt
  collocate cluster spark cooccur s3://corpora/news --min-count 5 --window 10 \
    --master yarn --work s3://corpora/job --out s3://corpora/news.parquet
  collocate cluster spark cooccur news.txt --work job --out news.cooc --dry-run`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := wordJob(args[0])
			if err != nil {
				return err
			}
			if err := f.prepare(cmd, job, args[1:]); err != nil {
				return err
			}
			source, err := sparkSource(cmd.Context(), args[1:], int64(split))
			if err != nil {
				return err
			}
			jobs, outs, vocab := f.steps(job)
			if !f.dryRun {
				if err := canWriteOrPut(f.out); err != nil {
					return err
				}
				if err := spark.start(&f.runFlags); err != nil {
					return err
				}
			}
			source.Job = job
			spill := &cluster.Spill{Dir: joinPath(f.work, "spill")}
			var merge []string
			for i, job := range jobs {
				merge = append(f.merge(job, vocab, outs[i]), "--spill", spill.Dir)
				step := spark.step(&f, job, vocab, spill.Dir, &source)
				if i+1 < len(jobs) {
					step.Then = append(append([]string{f.program}, merge...), f.parts(job), "--quiet")
				}
				source.Steps = append(source.Steps, step)
			}
			if f.dryRun {
				return spark.run(a, cmd.Context(), &f.runFlags, &source, merge)
			}
			if err := spill.Clean(cmd.Context()); err != nil { // files of a failed job
				return err
			}
			if err := spark.run(a, cmd.Context(), &f.runFlags, &source, merge); err != nil {
				return err
			}
			return spill.Clean(cmd.Context())
		},
	}
	f.register(cmd)
	spark.register(cmd)
	cmd.Flags().Var(&split, "split-size", "size of the part of the corpus for each map; 0B means 128 MiB")
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.spark(a))
	}
	return cmd
}

// fewMaps is the number of maps up to which there is no reduce stage: the merge adds up their files
// itself. A reduce stage reads and writes all records once more, which pays only if it makes them
// many fewer.
const fewMaps = 8

// step returns the step of a Spark program that runs a job, with records in files of spill.
func (f *sparkFlags) step(e *engineFlags, job cluster.Job, vocab, spill string, s *cluster.Script) cluster.Step {
	step := cluster.Step{Parts: e.parts(job), Reduces: f.reduces}
	switch {
	case f.reduces > 0:
	case s.Tasks == 0:
		step.Reduces = 32 // the number of maps is not known before Spark splits the input
	case s.Tasks > fewMaps:
		step.Reduces = min(s.Tasks, 200)
	}
	step.Map = append(e.worker(job, "map", vocab), "--spill", spill)
	if step.Reduces > 0 {
		step.Reduce = append(e.worker(job, "reduce", ""), "--spill", spill)
		// Spark assigns buckets to reduces by hash: several for each balance the load.
		step.Map = append(step.Map, "--buckets", strconv.Itoa(4*step.Reduces))
	}
	if s.Tasks > 0 {
		step.Map = append(append(step.Map, "--of", strconv.Itoa(s.Tasks)), s.Inputs...)
	}
	return step
}

// defaultSplit is the default size of a part, the same as Spark's.
const defaultSplit = 128 << 20

// sparkSource returns a script with the source of the documents: parts of files that maps read
// themselves or, if a path is a URL other than S3's, lines that Spark reads.
func sparkSource(ctx context.Context, paths []string, split int64) (s cluster.Script, err error) {
	for _, path := range paths {
		if strings.Contains(path, "://") && !s3.Is(path) {
			s.SplitBytes = split
			s.Inputs, err = sparkInputs(paths)
			return s, err
		}
	}
	if split == 0 {
		split = defaultSplit
	}
	total := int64(0)
	if s.Inputs, total, err = clusterFiles(ctx, paths); err != nil {
		return s, err
	}
	s.Tasks = int(max(1, (total+split-1)/split))
	return s, nil
}

// clusterFiles lists the files of paths, which may be files, folders and addresses in S3, with
// absolute paths, and returns the sum of their sizes. Hidden files in folders are left out.
func clusterFiles(ctx context.Context, paths []string) (files []string, total int64, err error) {
	for _, path := range paths {
		if s3.Is(path) {
			list, err := s3.List(ctx, path)
			if err != nil {
				return nil, 0, err
			}
			for _, o := range list {
				total += o.Size
				files = append(files, o.Address)
			}
			continue
		}
		if strings.Contains(path, "://") {
			return nil, 0, usagef("%s: want files, folders or addresses in S3; other addresses are read by Spark, for jobs vocab and cooccur", path)
		}
		had := len(files)
		err = filepath.WalkDir(path, func(file string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case file != path && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			case d.IsDir():
				return nil
			}
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				return fmt.Errorf("%s: want a regular file, of which parts can be read", file)
			}
			total += info.Size()
			files = append(files, file)
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		if len(files) == had {
			return nil, 0, fmt.Errorf("%s: no files in this folder", path)
		}
	}
	files, err = wholePaths(files)
	return files, total, err
}

// splittable sets the default format, and refuses files that cannot be split between lines.
func (c *corpusFlags) splittable(paths []string) error {
	for _, path := range paths {
		files := []string{path}
		if !strings.Contains(path, "://") {
			files = nil
			// What cannot be read is reported where it is needed.
			_ = filepath.WalkDir(path, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					files = append(files, path)
				}
				return nil
			})
		}
		for _, file := range files {
			kind := kindByName(file)
			switch {
			case kind == "parquet" || isParquet(file):
				return usagef("%s: workers cannot split Parquet; convert it to JSON lines first", file)
			case c.Format == text.Auto && kind == "jsonl":
				return usagef("%s: workers read plain lines by default; say --format jsonl, or --format lines if these are meant", file)
			case c.Format == text.Auto && kind != "":
				return usagef("%s: workers read lines of text or JSON, not %s; convert it, or say --format lines if its lines are meant", file, kind)
			}
		}
	}
	if c.Format == text.Auto {
		c.Format = clusterFormat
	}
	if c.Format != text.Lines && c.Format != text.JSONL {
		return usagef("--format %v: want lines or jsonl, as files are split between lines", c.Format)
	}
	return nil
}

// kindByName returns the format that the name of a file promises, "" for plain text.
func kindByName(path string) string {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch kind := strings.TrimPrefix(filepath.Ext(name), "."); kind {
	case "jsonl", "ndjson":
		return "jsonl"
	case "json", "csv", "tsv", "parquet", "trec":
		return kind
	}
	return ""
}

// isParquet reports whether a local file begins as Parquet does.
func isParquet(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "PAR1"
}

// wholePaths makes paths absolute.
func wholePaths(paths []string) (list []string, err error) {
	for _, path := range paths {
		whole, err := wholePath(path)
		if err != nil {
			return nil, err
		}
		list = append(list, whole)
	}
	return list, nil
}

// sparkInputs makes URLs of paths.
func sparkInputs(paths []string) ([]string, error) {
	list := make([]string, len(paths))
	for i, path := range paths {
		if list[i] = path; strings.Contains(path, "://") {
			continue
		}
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		list[i] = "file://" + whole
	}
	return list, nil
}

// findSubmit finds spark-submit.
func findSubmit(named string) (string, error) {
	if named == "" {
		if home := os.Getenv("SPARK_HOME"); home != "" {
			named = filepath.Join(home, "bin", "spark-submit")
		} else {
			named = "spark-submit"
		}
	}
	path, err := exec.LookPath(named)
	if err != nil {
		return "", fmt.Errorf("%w: set SPARK_HOME or --spark-submit; --dry-run prints the job instead", err)
	}
	return path, nil
}

// again runs a verb of this program in the same process.
func (a *app) again(ctx context.Context, args []string) error {
	sub := newApp(a.stdin, a.stdout, a.stderr)
	args = append(args, "--threads", strconv.Itoa(a.threads), "--memory", a.memory.String())
	if a.quiet {
		args = append(args, "--quiet")
	}
	if a.verbose {
		args = append(args, "--verbose")
	}
	if a.json {
		args = append(args, "--json")
	}
	return newRoot(sub, args...).ExecuteContext(ctx)
}

// slurmFlags are the flags of Slurm.
type slurmFlags struct {
	tasks   int
	options []string
	force   bool
}

func (f *slurmFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.tasks, "tasks", 16, "number of parts of the input, each a task of the array")
	cmd.Flags().StringArrayVar(&f.options, "sbatch", nil, "option for sbatch, such as --mem=4G; may be given several times")
	cmd.Flags().BoolVar(&f.force, "force", false, "remove the parts of an earlier job in the folder of --work, even if they are of other files or flags")
}

// run writes a job array over files and submits it; with --dry-run it prints the scripts.
func (f *slurmFlags) run(a *app, ctx context.Context, r *runFlags, array *cluster.Array, files []string) (err error) {
	array.Merge = append(array.Merge, "--threads", strconv.Itoa(r.threads), "--memory", r.memory.String())
	if f.tasks < 1 {
		return usagef("--tasks %d: want 1 or more", f.tasks)
	}
	array.Tasks, array.Dir, array.Options = f.tasks, r.work, f.options
	array.Files = files
	scripts := array.Scripts()
	names := []string{"map.sbatch", "merge.sbatch", "submit.sh"}
	if r.dryRun {
		for _, name := range names {
			fmt.Fprintf(a.stdout, "==> %s\n%s\n", filepath.Join(r.work, name), scripts[name])
		}
		return nil
	}
	if err := os.MkdirAll(r.work, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if err := writeScript(filepath.Join(r.work, name), scripts[name]); err != nil {
			return err
		}
	}
	submit := []string{filepath.Join(r.work, "submit.sh")}
	if f.force {
		submit = append(submit, "--force")
	}
	return a.run(ctx, "bash", submit...)
}

func newClusterSlurmCmd(a *app) *cobra.Command {
	var (
		f     engineFlags
		slurm slurmFlags
	)
	cmd := &cobra.Command{
		Use:         "slurm JOB FILE... --work DIR --out FILE",
		Short:       "Run a job on Slurm",
		Annotations: map[string]string{s3Annotation: "out"},
		Long: `Run a job as a job array of Slurm, with this program as the worker: vocab or cooccur, which are
described here, or weigh, index or places, each of which has a --help of its own. Each task counts
the words of its part of the files, which all nodes can read. A last job merges their output into
FILE, the same bytes as those of 'collocate vocab' or 'collocate cooccur'. Job cooccur needs
--vocab.

Scripts are written to DIR and submitted with sbatch, unless --dry-run prints them. The same
command again, or submit.sh in DIR, repeats only the tasks whose parts are missing.`,
		Example: `  collocate cluster slurm vocab /data/news.txt --tasks 64 --work /data/job --out /data/vocab.txt
  collocate cluster slurm cooccur /data/news.txt --vocab /data/vocab.txt --tasks 64 \
    --sbatch --mem=4G --work /data/job --out /data/news.cooc`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := wordJob(args[0])
			if err != nil {
				return err
			}
			if job == cluster.Cooccur && f.vocab == "" {
				return usagef("--vocab is missing: write it with job vocab first")
			}
			if err := f.prepare(cmd, job, args[1:]); err != nil {
				return err
			}
			out, err := wholePath(f.out)
			if err != nil {
				return err
			}
			if err := canWriteOrPut(out); err != nil && !f.dryRun {
				return err
			}
			files, _, err := clusterFiles(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			return slurm.run(a, cmd.Context(), &f.runFlags, &cluster.Array{Job: job, Map: f.worker(job, "map", f.vocab),
				Merge: append([]string{f.program}, f.merge(job, f.vocab, out)...)}, files)
		},
	}
	f.register(cmd)
	slurm.register(cmd)
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.slurm(a))
	}
	return cmd
}
