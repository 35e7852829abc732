package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/s3"
)

func newClusterCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "Run jobs on many machines, with Spark or Slurm",
		GroupID: groupTools,
		Long: `Run a job on data that do not fit one machine. Spark or Slurm splits the input, groups records and
retries failed tasks; this program is the worker on each machine. The result is byte for byte
that of the command for one machine. Jobs are vocab, cooccur, weigh, index and places. See
docs/cluster.md.`,
		Example: `  collocate cluster spark vocab news.txt --master spark://head:7077 --work /data/job --out vocab.txt
  collocate cluster spark cooccur news.txt --work job --out news.cooc --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newClusterSparkCmd(a), newClusterSlurmCmd(a), newClusterWorkerCmd(a), newClusterMergeCmd(a),
		newClusterPutCmd(a), newClusterCommitCmd(a), newClusterPlanCmd(a))
	return cmd
}

// clusterFlags are the flags of jobs vocab and cooccur. Each verb registers those that it needs.
type clusterFlags struct {
	corpus corpusFlags
	words  vocabFlags
	opt    cooccur.Options
	vocab  string
	split  string
	of     int
	spill  cluster.Spill
}

func newClusterFlags() clusterFlags {
	return clusterFlags{corpus: corpusFlags{Reading: api.Reading{Analyzer: "whitespace"}}}
}

// registerPairs registers the options of a co-occurrence matrix.
func (f *clusterFlags) registerPairs(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.vocab, "vocab", "", "cooccur: file with the vocabulary, which all machines can read")
	fl.IntVar(&f.opt.Window, "window", 15, "cooccur: number of words on each side, at most 18 with --weighting distance")
	fl.Var(textFlag{&f.opt.Side, "side"}, "side", "cooccur: neighbours to count: both, left (those before the word) or right")
	fl.Var(textFlag{&f.opt.Weighting, "weighting"}, "weighting", "cooccur: what a co-occurrence adds: distance (1/distance) or count (1)")
	choices(cmd, map[string][]string{"side": {"both", "left", "right"}, "weighting": {"distance", "count"}})
}

// spillOf returns the options of --spill, or nil without the flag.
func (f *clusterFlags) spillOf(a *app) *cluster.Spill {
	if f.spill.Dir == "" {
		return nil
	}
	f.spill.Memory = int64(a.memory) / 4
	return &f.spill
}

// wordJob parses the name of a job that counts words, vocab or cooccur. The other jobs are
// subcommands; their names get here only behind a --.
func wordJob(name string) (cluster.Job, error) {
	job, err := cluster.ParseJob(name)
	if err != nil {
		return job, usageError{err}
	}
	if job != cluster.Vocab && job != cluster.Cooccur {
		return job, usagef("job %v is a subcommand: leave out the -- before it", job)
	}
	return job, nil
}

// check refuses flags that do not belong to a job.
func (f *clusterFlags) check(cmd *cobra.Command, job cluster.Job) error {
	wrong := []string{"min-count", "max-size", "ties", "keep-unk"}
	if job == cluster.Vocab {
		wrong = []string{"vocab", "window", "side", "weighting"}
	} else if f.vocab == "" && cmd.Flags().Lookup("vocab") != nil && cmd.Name() != "spark" && cmd.Name() != "slurm" {
		return usagef("--vocab is missing: job cooccur needs the vocabulary that job vocab writes")
	}
	for _, name := range wrong {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed &&
			(job == cluster.Vocab || cmd.Name() == "merge") {
			return usagef("--%s has no effect in job %s; leave it out", name, job)
		}
	}
	if _, err := cooccur.Units(f.opt); err != nil && job == cluster.Cooccur {
		return usageError{err}
	}
	return nil
}

// readVocabulary reads the file of --vocab.
func (f *clusterFlags) readVocabulary() (*cooccur.Vocabulary, error) {
	in, err := cluster.OpenBytes(f.vocab)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return cooccur.ReadVocabulary(in, f.vocab)
}

func newClusterWorkerCmd(a *app) *cobra.Command {
	f := newClusterFlags()
	cmd := &cobra.Command{
		Use:         "worker JOB STAGE [FILE...]",
		Short:       "Run a stage of a job, for Spark and Slurm",
		Annotations: map[string]string{s3Annotation: "spill"},
		Long: `Run a stage of a job. Spark and Slurm call this command. JOB is vocab or cooccur, which are
described here, or weigh, index or places, each of which has a --help of its own. STAGE is map or
reduce.

map reads documents, by default one per line, from standard input. With --split I/N it reads part
I (from 0) of N of the files, which may be in S3 (s3://bucket/file); with --of N it reads the
numbers of its parts from standard input, one per line. It writes records: lines of a kind, a key
and a payload, separated by tabs. reduce reads records in ascending order of keys from standard
input, and adds up those with the same key. The last record of each stage has the number of
records and their checksum, which 'cluster merge' compares. Package cluster describes the records.

With --spill DIR, stages write their records to files in a folder that all machines can read, or
in S3, and to standard output only records that name these files: one for each of --buckets,
which an engine groups by key.

Counters go to standard error. On any error the exit code is not 0.`,
		Example: `  collocate cluster worker vocab map <part.txt >part.vocab
  sort -t "$(printf '\t')" -k2,2n *.vocab | collocate cluster worker vocab reduce >all.vocab
  collocate cluster worker cooccur map --vocab vocab.txt --window 10 --split 3/16 corpus.txt >part3`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := wordJob(args[0])
			if err != nil {
				return err
			}
			if err := a.rawOutput("records have a format of their own"); err != nil {
				return err
			}
			var done cluster.End
			switch files := args[2:]; args[1] {
			case "map":
				done, err = f.mapStage(a, cmd, job, files)
			case "reduce":
				if len(files) > 0 || f.split != "" || f.of != 0 {
					return usagef("reduce reads standard input: leave out files, --split and --of")
				}
				done, err = cluster.Reduce(cmd.Context(), job, a.stdin, f.spillOf(a), a.stdout)
			default:
				return usagef("unknown stage %q: want map or reduce", args[1])
			}
			if err != nil {
				return err
			}
			a.summary("%s %s: %d documents, %d words, %d records read, %d written", job, args[1],
				done.Documents, done.Words, done.ReadRecords, done.Records)
			return nil
		},
	}
	f.corpus.register(cmd)
	f.registerPairs(cmd)
	cmd.Flags().StringVar(&f.split, "split", "", "read part `I/N` of the files, counted from 0/N, instead of standard input")
	cmd.Flags().IntVar(&f.of, "of", 0, "number of parts of the files; read the numbers of those to process from standard input, one per line")
	cmd.Flags().StringVar(&f.spill.Dir, "spill", "", "write records to files in this folder, and their names to standard output")
	cmd.Flags().Int64Var(&f.spill.Buckets, "buckets", 1, "number of ranges of keys in each file of --spill")
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.worker(a))
	}
	return cmd
}

// mapStage runs stage map of jobs vocab and cooccur.
func (f *clusterFlags) mapStage(a *app, cmd *cobra.Command, job cluster.Job,
	files []string) (done cluster.End, err error) {
	if err := f.check(cmd, job); err != nil {
		return done, err
	}
	if err := f.corpus.splittable(files); err != nil {
		return done, err
	}
	an, err := f.corpus.analyzer()
	if err != nil {
		return done, err
	}
	var in io.Reader = a.stdin
	var share cluster.Share
	switch {
	case f.split != "" || f.of != 0:
		if share.Parts, share.Of, err = taskNumbers(a.stdin, f.split, f.of); err != nil {
			return done, err
		}
		if len(files) == 0 {
			return done, usagef("no files: --split and --of need the files that are split")
		}
		parts := []io.Reader{}
		for _, i := range share.Parts {
			part, err := cluster.Split(files, i, share.Of)
			if err != nil {
				return done, err
			}
			defer part.Close()
			parts = append(parts, part)
		}
		in = io.MultiReader(parts...)
	case len(files) > 0:
		return done, usagef("%s: files need --split or --of; without files, standard input is read", files[0])
	}
	corpus := f.corpus.corpus(a, nil)
	corpus.Stdin = in
	if job == cluster.Vocab {
		opt := cooccur.VocabularyOptions{Analyzer: an, Threads: a.threads, Memory: int64(a.memory)}
		return cluster.MapWords(cmd.Context(), corpus, share, opt, f.spillOf(a), a.stdout)
	}
	v, err := f.readVocabulary()
	if err != nil {
		return done, err
	}
	f.opt.Analyzer, f.opt.Threads, f.opt.Memory = an, a.threads, int64(a.memory)
	return cluster.MapPairs(cmd.Context(), corpus, share, v, f.opt, f.spillOf(a), a.stdout)
}

// parseSplit parses I/N.
func parseSplit(s string) (i, n int, err error) {
	a, b, _ := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || n < 1 || i < 0 || i >= n {
		return 0, 0, usagef("--split %s: want a part and the number of parts, as in 0/8", s)
	}
	return i, n, nil
}

func newClusterMergeCmd(a *app) *cobra.Command {
	f := newClusterFlags()
	var out string
	var foreign bool
	cmd := &cobra.Command{
		Use:         "merge JOB PART... --out FILE",
		Short:       "Make the result from the output of workers",
		Annotations: map[string]string{s3Annotation: "out spill"},
		Long: `Merge the output of a job's workers, either all of stage map or all of stage reduce, into the result
of 'collocate vocab' or 'collocate cooccur', byte for byte. A PART is a file, or a folder of
files; names that begin with _ or a dot are skipped, such as Spark's _SUCCESS. Parts, the
vocabulary and the result may be in S3, as in s3://bucket/folder.

The numbers of records and the checksums that workers wrote are compared with the records: what
an engine lost, changed or repeated is an error, and so is a missing part of --split or --of. A
missing part of a job whose maps read standard input is not noticed.`,
		Example: `  collocate cluster merge vocab parts/ --min-count 5 --out vocab.txt
  collocate cluster merge cooccur parts/ --vocab vocab.txt --window 10 --out corpus.cooc`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := wordJob(args[0])
			if err != nil {
				return err
			}
			if err := errors.Join(f.check(cmd, job), canWriteOrPut(out)); err != nil {
				return err
			}
			an, err := f.corpus.analyzer()
			if err != nil {
				return err
			}
			f.opt.Analyzer = an
			parts, closeAll, err := openParts(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			defer closeAll()
			return viaFile(cmd.Context(), out, func(out string) error {
				if job == cluster.Vocab {
					return f.mergeVocab(a, cmd, parts, out)
				}
				return f.mergePairs(a, cmd, parts, !foreign, out)
			})
		},
	}
	f.words.register(cmd)
	f.registerPairs(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.corpus.Analyzer, "analyzer", f.corpus.Analyzer,
		"analyzer of the workers, which is stored in .cooc files; "+analyzerHelp())
	fl.BoolVar(&foreign, "foreign-vocab", false,
		"cooccur: the vocabulary is of another corpus; do not compare its counts")
	fl.StringVar(&f.spill.Dir, "spill", "", "--spill of the workers")
	fl.StringVarP(&out, "out", "o", "",
		"file to write, may be in S3; its name says the format, as in 'collocate cooccur'")
	must(cmd.MarkFlagRequired("out"))
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.merger(a))
	}
	return cmd
}

func (f *clusterFlags) mergeVocab(a *app, cmd *cobra.Command, parts []cluster.Input, out string) error {
	v, stats, err := cluster.MergeWords(cmd.Context(), parts, f.spillOf(a), f.words.options(a, nil))
	if err != nil {
		return err
	}
	if a.json {
		return a.vocabularyJSON(v, stats, out, nil)
	}
	if err := a.writeVocabulary(v, out); err != nil {
		return err
	}
	a.summary("%s of %s, %d distinct; kept %d", counted(stats.Words, "word"),
		counted(stats.Documents, "document"), stats.Distinct, stats.Kept)
	return nil
}

func (f *clusterFlags) mergePairs(a *app, cmd *cobra.Command, parts []cluster.Input, ofCorpus bool, out string) error {
	v, err := f.readVocabulary()
	if err != nil {
		return err
	}
	format, err := cooccur.FormatOf(out)
	if err != nil {
		return usageError{err}
	}
	file, err := cooccur.Create(out, format, v, f.opt)
	if err != nil {
		return err
	}
	defer file.Abort()
	stats, err := cluster.MergePairs(cmd.Context(), parts, f.spillOf(a), v, ofCorpus, f.opt, file)
	if err != nil {
		return err
	}
	file.Describe(stats)
	if err := file.Commit(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(stats)
	}
	a.summary("%d words, %d in the vocabulary of %d; %d entries", stats.Words, stats.Kept, v.Len(), stats.Entries)
	return nil
}

// openParts opens files of records: those of paths, and those in folders and S3 prefixes of paths.
func openParts(ctx context.Context, paths []string) (parts []cluster.Input, closeAll func(), err error) {
	var files []io.Closer
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	open := func(path string) error {
		f, err := cluster.OpenBytes(path)
		if err != nil {
			return err
		}
		files = append(files, f)
		parts = append(parts, cluster.Input{Name: path, Reader: f})
		return nil
	}
	for _, path := range paths {
		if s3.Is(path) {
			list, err := s3.List(ctx, path)
			for _, o := range list {
				if name := o.Address[strings.LastIndex(o.Address, "/")+1:]; err == nil && name[0] != '_' {
					err = open(o.Address)
				}
			}
			if err != nil {
				return nil, closeAll, err
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, closeAll, err
		}
		if !info.IsDir() {
			if err := open(path); err != nil {
				return nil, closeAll, err
			}
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, closeAll, err
		}
		before := len(files)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".") || e.IsDir() {
				continue
			}
			if err := open(filepath.Join(path, e.Name())); err != nil {
				return nil, closeAll, err
			}
		}
		if len(files) == before {
			return nil, closeAll, fmt.Errorf("%s: no parts in this folder", path)
		}
	}
	return parts, closeAll, nil
}
