package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// partJob is a job whose map tasks are numbered: task i of n reads part i of n of the files.
type partJob struct {
	job   cluster.Job
	files bool   // maps write files to the folder of --parts, besides their records
	does  string // first paragraph of --help
	like  string // the command for one machine
	input string // name of the arguments, as in the usage line
	out   string // help of --out

	mapFlags, mergeFlags func(cmd *cobra.Command) // register the flags of map and merge
	// check checks the flags of map and the input, checkMerge those of merge with the name of the
	// result.
	check      func(paths []string) error
	checkMerge func(out string) error
	mapper     func(ctx context.Context, t *tasks) (cluster.End, error)
	merge      func(ctx context.Context, m *mergeTask) error
}

// tasks are the map tasks of a worker.
type tasks struct {
	files   []string
	numbers []int
	of      int    // number of all tasks of the job
	parts   string // folder of --parts
	out     io.Writer
}

// mergeTask is the input and output of a merge.
type mergeTask struct {
	streams    []cluster.Input
	parts, out string
	only       int // shard to write, -1 for all
}

// partJobs returns the jobs, each with variables of its own for its flags.
func partJobs(a *app) []*partJob { return []*partJob{weighJob(a), indexJob(a), placesJob(a)} }

func weighJob(a *app) *partJob {
	corpus := corpusFlags{}
	var k1, b float64
	var variant string
	var repeat bool
	j := &partJob{
		job: cluster.Weigh, files: true, like: "weigh", input: "FILE", out: "file for the weights: .tsv, .parquet, .npz or .weights",
		does: `Compute the BM25 weight of every word in every document. Map tasks count the words of their
documents; the merge adds up document frequencies and lengths and computes the weights.`,
		mapFlags: corpus.register,
		mergeFlags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.Float64Var(&k1, "k1", 1.2, "term-frequency saturation (k1)")
			f.Float64Var(&b, "b", 0.75, "length normalisation, 0 to 1 (b)")
			f.StringVar(&variant, "variant", "papers", "formula: "+strings.Join(bm25.Variants(), ", "))
			f.BoolVar(&repeat, "allow-duplicate-ids", false, "accept documents that have the same ID")
			choices(cmd, map[string][]string{"variant": bm25.Variants()})
		},
	}
	j.check = corpus.checkSplit
	var p bm25.Params
	var format weigh.Format
	j.checkMerge = func(out string) (err error) {
		if format, err = weigh.FormatOf(out); err != nil {
			return usageError{err}
		}
		p = bm25.Params{K1: bm25.Explicit(k1), B: bm25.Explicit(b)}
		if p.Variant, err = weightVariant(variant); err != nil {
			return err
		}
		if err := p.Check(); err != nil {
			return usageError{err}
		}
		return nil
	}
	j.mapper = func(ctx context.Context, t *tasks) (cluster.End, error) {
		if err := j.check(t.files); err != nil {
			return cluster.End{}, err
		}
		an, err := corpus.analyzer()
		if err != nil {
			return cluster.End{}, err
		}
		return cluster.MapParts(j.job, t.numbers, t.of, func(n int, name string) (p cluster.Part, err error) {
			c, err := corpus.part(a, t, n)
			if err != nil {
				return p, err
			}
			w, err := weigh.Weigh(ctx, c, weigh.Options{Analyzer: an, Threads: a.threads, Memory: int64(a.memory), TempDir: t.parts})
			if err != nil {
				return p, err
			}
			defer w.Close()
			path := filepath.Join(t.parts, name)
			if _, err := w.WriteFile(ctx, path, weigh.Binary, a.threads); err != nil {
				return p, err
			}
			info, err := os.Stat(path)
			if err != nil {
				return p, err
			}
			return cluster.Part{Documents: int64(w.Docs()), Words: w.Tokens(), Bytes: uint64(info.Size())}, nil
		}, t.out)
	}
	j.merge = func(ctx context.Context, m *mergeTask) error {
		parts, _, err := cluster.MergeParts(ctx, j.job, m.streams)
		if err != nil {
			return err
		}
		files := make([]*weigh.File, len(parts))
		for i, part := range parts {
			f, err := weigh.OpenFile(filepath.Join(m.parts, part.Name)) // verifies its checksums
			if err != nil {
				return err
			}
			defer f.Close()
			if int64(len(f.Lengths)) != part.Documents || f.Tokens != uint64(part.Words) {
				return fmt.Errorf("%s: not the file that part %d wrote; run the job again", part.Name, i)
			}
			files[i] = f
		}
		w, err := weigh.Join(files, p)
		if err != nil {
			return err
		}
		defer w.Close()
		if !repeat {
			if err := uniqueIDs(w); err != nil {
				return err
			}
		}
		counts, err := w.WriteFile(ctx, m.out, format, a.threads)
		if err != nil {
			return err
		}
		s := weighSummary{Method: w.Method().String(), Documents: w.Docs(), Words: w.Tokens(), Terms: counts.Terms,
			Pairs: counts.Pairs, MeanLength: float64(w.Tokens()) / float64(max(1, w.Docs()))}
		if a.json {
			return a.printJSON(s)
		}
		a.summary("%s, %s, %s, mean length %.1f", counted(s.Documents, "document"), counted(s.Terms, "term"),
			counted(s.Pairs, "pair"), s.MeanLength)
		return nil
	}
	return j
}

func indexJob(a *app) *partJob {
	corpus := corpusFlags{typed: true}
	var o index.BuildOptions
	j := &partJob{
		job: cluster.Index, files: true, like: "index' and 'collocate shard --join", input: "FILE", out: "folder for the shards",
		does: `Make an index in shards, one for each part of the files, for 'collocate serve --root'. Map tasks
index their documents; the merge gives each shard the statistics of all, so that scores are those
of a single index.`,
		mapFlags: func(cmd *cobra.Command) {
			corpus.register(cmd)
			f := cmd.Flags()
			f.BoolVar(&o.StoreText, "store-text", false, "keep the text, for snippets")
			f.BoolVar(&o.Positions, "positions", false, "keep the positions of words, for phrases")
			f.BoolVar(&o.Reorder, "reorder", false, "number documents so that those with the same words are neighbours")
			f.BoolVar(&o.AllowDuplicateIDs, repeatFlag, false, "accept documents that have the same ID")
		},
		mergeFlags: func(cmd *cobra.Command) {
			if cmd.Flags().Lookup(repeatFlag) == nil { // the engines' verbs have it for map and merge
				cmd.Flags().BoolVar(&o.AllowDuplicateIDs, repeatFlag, false,
					"accept documents of two parts that have the same ID")
			}
		},
	}
	j.check = corpus.checkSplit
	j.checkMerge = func(out string) error { return indexFolder(out) }
	j.mapper = func(ctx context.Context, t *tasks) (cluster.End, error) {
		if err := j.check(t.files); err != nil {
			return cluster.End{}, err
		}
		an, err := corpus.analyzer()
		if err != nil {
			return cluster.End{}, err
		}
		o.Analyzer, o.Threads, o.Memory = an, a.threads, int64(a.memory)
		return cluster.MapParts(j.job, t.numbers, t.of, func(n int, name string) (p cluster.Part, err error) {
			c, err := corpus.part(a, t, n)
			if err != nil {
				return p, err
			}
			dir := filepath.Join(t.parts, name)
			if err := index.Build(ctx, dir, c, o); err != nil {
				return p, err
			}
			r, err := index.Open(dir)
			if err != nil {
				return p, err
			}
			defer r.Close()
			docs, words := r.Whole()
			p.Documents, p.Words = int64(docs), int64(words)
			p.Bytes, p.Sum = r.Stamp()
			return p, nil
		}, t.out)
	}
	j.merge = func(ctx context.Context, m *mergeTask) error {
		parts, totals, err := cluster.MergeParts(ctx, j.job, m.streams)
		if err != nil {
			return err
		}
		if m.only >= len(parts) {
			return usagef("--only %d: want 0 to %d", m.only, len(parts)-1)
		}
		var readers []*index.Reader
		for i, part := range parts {
			r, err := index.Open(filepath.Join(m.parts, part.Name))
			if err != nil {
				return err
			}
			defer r.Close()
			if bytes, sum := r.Stamp(); bytes != part.Bytes || sum != part.Sum {
				return fmt.Errorf("%s: not the index that part %d wrote; run the job again", part.Name, i)
			}
			readers = append(readers, r)
		}
		if err := apartOrAllowed(readers, m.only, o.AllowDuplicateIDs); err != nil {
			return err
		}
		for i := range readers {
			if m.only >= 0 && i != m.only {
				continue
			}
			to := filepath.Join(m.out, strconv.Itoa(i))
			if err := index.JoinShard(ctx, readers, i, to, index.MergeOptions{Memory: int64(a.memory)}); err != nil {
				return err
			}
		}
		return a.shardsMade(len(parts), int(totals.Documents), m.only, m.out)
	}
	return j
}

func placesJob(a *app) *partJob {
	var p api.PointsReading
	var opt coloc.Options
	j := &partJob{
		job: cluster.Places, like: "places", input: "POINTS", out: "file for the patterns: .csv, .parquet or .json",
		does: `Find kinds of places that are often together. The map is cut into bands with equal numbers of
points. Each map task reads all points and keeps those of its band and those within --distance
around it; a point is counted in its own band only. The merge searches for patterns.`,
		mapFlags: func(cmd *cobra.Command) {
			addReading(cmd, &p)
			cmd.Flags().Float64VarP(&opt.Distance, "distance", "d", -1, "neighbours are at most `D` apart")
			cmd.Flags().Lookup("distance").DefValue = "0" // so that --help shows no default
		},
		mergeFlags: func(cmd *cobra.Command) {
			cmd.Flags().Float64VarP(&opt.MinPrevalence, "min-prevalence", "p", 0,
				"least participation index, above 0 and at most 1")
			cmd.Flags().BoolVar(&opt.All, "all", false, "write all prevalent patterns, not only the maximal ones")
			must(cmd.MarkFlagRequired("min-prevalence"))
		},
	}
	j.check = func(paths []string) error {
		if opt.Distance < 0 {
			return usagef("--distance is missing: the largest distance of neighbours")
		}
		for _, path := range paths {
			if strings.Contains(path, "://") {
				return usagef("%s: points cannot be read from an address; want files that all machines can read", path)
			}
		}
		return nil
	}
	j.checkMerge = func(out string) error {
		if tableWriter(out) == nil {
			return usagef("--out %s: want a name that ends in .csv, .parquet or .json", out)
		}
		if !(opt.MinPrevalence > 0 && opt.MinPrevalence <= 1) {
			return usagef("--min-prevalence %v: want a number above 0, at most 1", opt.MinPrevalence)
		}
		return nil
	}
	j.mapper = func(ctx context.Context, t *tasks) (cluster.End, error) {
		if err := j.check(t.files); err != nil {
			return cluster.End{}, err
		}
		defer boundHeap(a.memory)()
		in, err := a.readPoints(ctx, &p, 2, t.files)
		if err != nil {
			return cluster.End{}, err
		}
		if err := checkDegrees(a, in, opt.Distance); err != nil {
			return cluster.End{}, err
		}
		opt.Threads, opt.Memory, opt.Log = a.threads, int64(a.memory), a.log
		return cluster.MapPlaces(ctx, in.Set, opt, t.numbers, t.of, t.out)
	}
	j.merge = func(ctx context.Context, m *mergeTask) error {
		write := tableWriter(m.out)
		opt.Threads, opt.Memory, opt.Log = a.threads, int64(a.memory), a.log
		res, points, err := cluster.MergePlaces(ctx, m.streams, opt)
		if err != nil {
			return err
		}
		r := coloc.NewReport(&coloc.Points{Features: points.Features}, res)
		r.Distance, r.Unit = points.Distance, points.Unit
		if err := a.writeTo(m.out, func(w io.Writer) error { return write(w, r) }); err != nil {
			return err
		}
		a.summary("%s of %s, %s", counted(int(points.Points), "point"), counted(len(points.Features), "feature"),
			counted(len(res.Patterns), "pattern"))
		return nil
	}
	return j
}

// repeatFlag is the name of the flag for repeated IDs.
const repeatFlag = "allow-duplicate-ids"

// checkSplit checks the flags, and that files can be split.
func (c *corpusFlags) checkSplit(paths []string) error {
	if err := c.splittable(paths); err != nil {
		return err
	}
	if c.IDRoot != "" {
		return usagef("--id-root is not supported on clusters; leave it out, or give documents IDs")
	}
	_, err := c.analyzer()
	return err
}

// part returns the documents of map task n.
func (c *corpusFlags) part(a *app, t *tasks, n int) (*text.Corpus, error) {
	streams, err := cluster.Streams(t.files, n, t.of, c.Format == text.Lines)
	if err != nil {
		return nil, err
	}
	corpus := c.corpus(a, nil)
	corpus.Streams = streams
	return corpus, nil
}

// taskNumbers returns the numbers of the map tasks to run, and the number of all: those of
// --split I/N, or with --of N those on the lines of standard input.
func taskNumbers(stdin io.Reader, split string, of int) (numbers []int, n int, err error) {
	if (split == "") == (of == 0) {
		return nil, 0, usagef("want either --split I/N, the part to process, or --of N, the number of parts")
	}
	if split != "" {
		i, n, err := parseSplit(split)
		return []int{i}, n, err
	}
	if of < 1 {
		return nil, 0, usagef("--of %d: want 1 or more", of)
	}
	in := bufio.NewScanner(stdin)
	for in.Scan() {
		i, err := strconv.Atoi(in.Text())
		if err != nil || i < 0 || i >= of {
			return nil, 0, fmt.Errorf("standard input: %.40q: want the number of a part, 0 to %d", in.Text(), of-1)
		}
		numbers = append(numbers, i)
	}
	return numbers, of, in.Err()
}

// worker is 'cluster worker JOB map'.
func (j *partJob) worker(a *app) *cobra.Command {
	var (
		t     tasks
		split string
		of    int
	)
	cmd := &cobra.Command{
		Use:   fmt.Sprintf("%s STAGE %s...", j.job, j.input),
		Short: "Run a stage of job " + j.job.String(),
		Long: j.does + `

Stage map processes part I (from 0) of N of the files, as --split I/N says; with --of N it reads
the numbers of its parts from standard input, one per line. It writes records, which package
cluster describes, to standard output.`,
		Example: fmt.Sprintf("  collocate cluster worker %s map --split 3/16%s %s >streams/3", j.job, j.example(), j.sample()),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := a.rawOutput("records have a format of their own"); err != nil {
				return err
			}
			var done cluster.End
			switch {
			case args[0] == "reduce" && len(args) == 1:
				done, err = cluster.Reduce(cmd.Context(), j.job, a.stdin, nil, a.stdout)
			case args[0] != "map":
				return usagef("unknown stage %q: want map or reduce", args[0])
			case len(args) == 1:
				return usagef("no files: map needs those to read")
			default:
				t.files, t.out = args[1:], a.stdout
				if t.numbers, t.of, err = taskNumbers(a.stdin, split, of); err != nil {
					return err
				}
				if j.files {
					if t.parts == "" {
						return usagef("--parts is missing: a folder for the files of map tasks, which all machines can read")
					}
					if err := os.MkdirAll(t.parts, 0o755); err != nil {
						return err
					}
				}
				done, err = j.mapper(cmd.Context(), &t)
			}
			if err != nil {
				return err
			}
			a.summary("%s %s: %d documents, %d words, %d records read, %d written", j.job, args[0],
				done.Documents, done.Words, done.ReadRecords, done.Records)
			return nil
		},
	}
	j.mapFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&split, "split", "", "process part `I/N`, counted from 0/N")
	f.IntVar(&of, "of", 0, "number of parts; read the numbers of those to process from standard input, one per line")
	if j.files {
		f.StringVar(&t.parts, "parts", "", "folder for the files of map tasks, which all machines can read")
	}
	return cmd
}

func (j *partJob) example() string {
	switch {
	case j.files:
		return " --parts parts"
	case j.job == cluster.Places:
		return " --distance 150"
	}
	return ""
}

func (j *partJob) sample() string {
	if j.job == cluster.Places {
		return "shops.csv"
	}
	return "news.jsonl --format jsonl"
}

// merger is 'cluster merge JOB'.
func (j *partJob) merger(a *app) *cobra.Command {
	var m mergeTask
	cmd := &cobra.Command{
		Use:         fmt.Sprintf("%s STREAM... --out %s", j.job, strings.ToUpper(strings.Fields(j.out)[0])),
		Short:       "Merge the output of job " + j.job.String(),
		Annotations: j.outAnnotation(),
		Long: fmt.Sprintf(`Merge the output of workers into the result of 'collocate %s', byte
for byte. A STREAM is a file with the records of a map, or a folder of such files.`, j.like),
		Example: fmt.Sprintf("  collocate cluster merge %s streams%s --out %s", j.job,
			strings.Replace(j.example(), " --distance 150", " --min-prevalence 0.3", 1), j.result()),
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("only") {
				m.only = -1
			} else if m.only < 0 {
				return usagef("--only %d: want 0 or more", m.only)
			}
			if err := j.checkMerge(m.out); err != nil {
				return err
			}
			if j.job != cluster.Index {
				if err := canWriteOrPut(m.out); err != nil {
					return err
				}
			}
			streams, closeAll, err := openParts(cmd.Context(), args)
			defer closeAll()
			if err != nil {
				return err
			}
			m.streams = streams
			return viaFile(cmd.Context(), m.out, func(out string) error {
				m.out = out
				return j.merge(cmd.Context(), &m)
			})
		},
	}
	j.mergeFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&m.out, "out", "o", "", j.out)
	must(cmd.MarkFlagRequired("out"))
	if j.files {
		f.StringVar(&m.parts, "parts", "", "--parts of the workers")
		must(cmd.MarkFlagRequired("parts"))
	}
	if j.job == cluster.Index {
		f.IntVar(&m.only, "only", 0, "write only the shard with this number, counted from 0")
	}
	return cmd
}

func (j *partJob) result() string {
	return map[cluster.Job]string{cluster.Weigh: "news.parquet", cluster.Index: "news.shards", cluster.Places: "patterns.csv"}[j.job]
}

// saidFlags returns those of the named flags that the user has set, as arguments for a worker on
// another machine: paths are absolute.
func saidFlags(fl *pflag.FlagSet, names []string) (words []string, err error) {
	for _, name := range names {
		flag := fl.Lookup(name)
		if !flag.Changed {
			continue
		}
		value := flag.Value.String()
		if strings.HasSuffix(flag.Value.Type(), "Slice") {
			value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
		}
		if name == "stopwords" || name == "schema" {
			if value, err = filepath.Abs(value); err != nil {
				return nil, err
			}
		}
		words = append(words, "--"+name+"="+value)
	}
	return words, nil
}

// namesOf registers flags and returns their names.
func namesOf(cmd *cobra.Command, register func(*cobra.Command)) (names []string) {
	had := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { had[f.Name] = true })
	register(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !had[f.Name] {
			names = append(names, f.Name)
		}
	})
	return names
}

// inputs returns the paths of the input, absolute: the files of folders, which each worker reads in
// part, or in job places the paths as they are, since each worker reads all of them.
func (j *partJob) inputs(ctx context.Context, paths []string) (files []string, err error) {
	if j.job != cluster.Places {
		files, _, err = clusterFiles(ctx, paths)
		return files, err
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
	}
	return wholePaths(paths)
}

// outAnnotation says whether the result may be in S3.
func (j *partJob) outAnnotation() map[string]string {
	if j.job == cluster.Index {
		return nil
	}
	return map[string]string{s3Annotation: "out"}
}

// commands returns the command line of a worker, and the arguments of this program that merge.
func (j *partJob) commands(r *runFlags, fl *pflag.FlagSet, paths, mapNames, mergeNames []string) (worker, merge []string, err error) {
	if err := j.check(paths); err != nil {
		return nil, nil, err
	}
	if err := j.checkMerge(r.out); err != nil {
		return nil, nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, nil, err
	}
	if !r.dryRun && j.job != cluster.Index {
		if err := canWriteOrPut(r.out); err != nil {
			return nil, nil, err
		}
	}
	out, err := wholePath(r.out)
	if err != nil {
		return nil, nil, err
	}
	said, err := saidFlags(fl, mapNames)
	if err != nil {
		return nil, nil, err
	}
	worker = append(r.worker(j.job, "map"), said...)
	merge = []string{"cluster", "merge", j.job.String(), "--out", out}
	if j.files {
		files := filepath.Join(r.work, j.job.String()+".files")
		worker, merge = append(worker, "--parts", files), append(merge, "--parts", files)
	}
	said, err = saidFlags(fl, mergeNames)
	return worker, append(merge, said...), err
}

// on makes 'cluster spark JOB' or 'cluster slurm JOB'. run gets the command line of a worker, the
// arguments of this program that merge, and the paths of the input.
func (j *partJob) on(system, how string, run func(ctx context.Context, r *runFlags, worker, merge, files []string) error) *cobra.Command {
	var (
		r              runFlags
		mapNames, rest []string
	)
	cmd := &cobra.Command{
		Use:         fmt.Sprintf("%s %s... --work DIR --out %s", j.job, j.input, strings.ToUpper(strings.Fields(j.out)[0])),
		Short:       "Run job " + j.job.String() + " on " + system,
		Annotations: j.outAnnotation(),
		Long:        fmt.Sprintf("%s\n\n%s'collocate %s'.", j.does, how, j.like),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			worker, merge, err := j.commands(&r, cmd.Flags(), args, mapNames, rest)
			if err != nil {
				return err
			}
			files, err := j.inputs(cmd.Context(), args)
			if err != nil {
				return err
			}
			return run(cmd.Context(), &r, worker, merge, files)
		},
	}
	mapNames = namesOf(cmd, j.mapFlags)
	rest = namesOf(cmd, j.mergeFlags)
	if j.job == cluster.Index {
		rest = append(rest, repeatFlag)
	}
	r.register(cmd)
	return cmd
}

// shared is an example of a file and options, on machines that share /data.
func (j *partJob) shared() string {
	if j.job == cluster.Places {
		return "/data/" + j.sample() + " --distance 150 --min-prevalence 0.3"
	}
	return "/data/" + j.sample()
}

// spark is 'cluster spark JOB'.
func (j *partJob) spark(a *app) *cobra.Command {
	var (
		s     sparkFlags
		tasks int
	)
	cmd := j.on("Apache Spark", `Spark runs the map tasks, each of which reads its part of the files itself: all machines must be
able to read them, and to write to DIR. The merge runs on this machine. The result is that of
`,
		func(ctx context.Context, r *runFlags, worker, merge, files []string) error {
			if tasks < 1 {
				return usagef("--tasks %d: want 1 or more", tasks)
			}
			worker = append(worker, "--of", strconv.Itoa(tasks))
			step := cluster.Step{Map: append(worker, files...), Reduces: s.reduces, Parts: r.parts(j.job)}
			if !j.files {
				step.Reduce = r.worker(j.job, "reduce")
			}
			script := &cluster.Script{Job: j.job, Tasks: tasks, Steps: []cluster.Step{step}}
			if !r.dryRun {
				if err := s.start(r); err != nil {
					return err
				}
			}
			return s.run(a, ctx, r, script, merge)
		})
	cmd.Example = fmt.Sprintf("  collocate cluster spark %s %s --master spark://head:7077 --work /data/job --out %s",
		j.job, j.shared(), j.result())
	s.register(cmd)
	cmd.Flags().IntVar(&tasks, "tasks", 16, "number of parts of the input, each a map task")
	return cmd
}

// slurm is 'cluster slurm JOB'.
func (j *partJob) slurm(a *app) *cobra.Command {
	var s slurmFlags
	cmd := j.on("Slurm", `Each task of a job array reads its part of the files, which all nodes can read; a last job merges
their output. The result is that of `,
		func(ctx context.Context, r *runFlags, worker, merge, files []string) error {
			array := &cluster.Array{Job: j.job, Map: worker, Merge: append([]string{r.program}, merge...)}
			array.EachMerges = j.job == cluster.Index
			if j.files {
				array.Clean = filepath.Join(r.work, j.job.String()+".files")
			}
			return s.run(a, ctx, r, array, files)
		})
	cmd.Example = fmt.Sprintf("  collocate cluster slurm %s %s --tasks 64 --work /data/job --out /data/%s",
		j.job, j.shared(), j.result())
	s.register(cmd)
	return cmd
}
