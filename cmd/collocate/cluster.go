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

	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/s3"
)

func newClusterCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "Count, weigh, index and find places on many machines",
		GroupID: groupTools,
		Long: `Jobs for data that do not fit one machine. Spark or Slurm splits the input, groups records and
retries failed tasks; this program is the worker on each machine. The result is byte for byte
that of the command for one machine. Jobs are vocab, cooccur, weigh, index and places. See
docs/cluster.md.

  spark   write a PySpark job, and submit it
  slurm   write job arrays for Slurm, and submit them
  worker  run a stage of a job; called by the engines
  merge   make the result from the output of workers`,
		Example: `  collocate cluster spark vocab news.txt --master spark://head:7077 --work /data/job --out vocab.txt
  collocate cluster spark cooccur news.txt --work job --out news.cooc --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newClusterSparkCmd(a), newClusterSlurmCmd(a), newClusterWorkerCmd(a), newClusterMergeCmd(a))
	return cmd
}

// clusterFlags are those of jobs, of which each verb registers what it needs.
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
	return clusterFlags{corpus: corpusFlags{analyzerName: "whitespace"}}
}

// registerPairs registers what a co-occurrence matrix is.
func (f *clusterFlags) registerPairs(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.vocab, "vocab", "", "cooccur: the vocabulary, a file that all machines see")
	fl.IntVar(&f.opt.Window, "window", 15, "cooccur: number of words on each side; by distance at most 18")
	fl.Var(textFlag{&f.opt.Side, "side"}, "side", "cooccur: neighbours to count: both, left or right")
	fl.Var(textFlag{&f.opt.Weighting, "weighting"}, "weighting", "cooccur: what a co-occurrence adds: distance (1/distance) or count (1)")
	choices(cmd, map[string][]string{"side": {"both", "left", "right"}, "weighting": {"distance", "count"}})
}

// spillOf is the folder of --spill, or nil.
func (f *clusterFlags) spillOf(a *app) *cluster.Spill {
	if f.spill.Dir == "" {
		return nil
	}
	f.spill.Memory = int64(a.memory) / 4
	return &f.spill
}

// wordJob is the job of that name, one of those that count words: the others have commands of
// their own.
func wordJob(name string) (cluster.Job, error) {
	job, err := cluster.ParseJob(name)
	if err != nil {
		return job, usageError{err}
	}
	if job != cluster.Vocab && job != cluster.Cooccur {
		return job, usagef("job %v counts no words and has a command of its own: write it without --", job)
	}
	return job, nil
}

// check finds flags that do not go with a job.
func (f *clusterFlags) check(cmd *cobra.Command, job cluster.Job) error {
	wrong := []string{"min-count", "max-size", "ties", "keep-unk"}
	if job == cluster.Vocab {
		wrong = []string{"vocab", "window", "side", "weighting"}
	} else if f.vocab == "" && cmd.Flags().Lookup("vocab") != nil && cmd.Name() != "spark" && cmd.Name() != "slurm" {
		return usagef("--vocab is missing: job cooccur needs the vocabulary that job vocab has made")
	}
	for _, name := range wrong {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed &&
			(job == cluster.Vocab || cmd.Name() == "merge") {
			return usagef("--%s has no meaning in job %s", name, job)
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
		Use:   "worker JOB STAGE [FILE...]",
		Short: "Run a stage of a job, from standard input to standard output",
		Long: `A stage of a job, for engines to run. JOB is vocab or cooccur, which are described here, or
weigh, index or places, each of which has a --help of its own; STAGE is map or reduce.

map reads documents, by default a line each, from standard input, or with --split I/N part I (from 0)
of N of the files, which may be in S3 (s3://bucket/file); with --of N the numbers of parts are lines
of standard input. It writes records: lines of a kind, a key and a payload with tabs between them.
reduce reads records by rising key from standard input and adds up those with the same key. The last
record of each stage says how many it wrote, with a checksum; 'cluster merge' compares these. Package
cluster describes the records.

With --spill DIR stages leave their records in files of a folder that all machines see, or of S3, and
write records that name them: one for each of --buckets, which an engine brings together by their key.

Counters go to standard error. Any error ends a stage with an exit code that is not 0.`,
		Example: `  collocate cluster worker vocab map <part.txt >part.vocab
  sort -t "$(printf '\t')" -k2,2n *.vocab | collocate cluster worker vocab reduce >all.vocab
  collocate cluster worker cooccur map --vocab vocab.txt --window 10 --split 3/16 corpus.txt >part3`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := wordJob(args[0])
			if err != nil {
				return err
			}
			if err := a.rawOutput("records have a form of their own"); err != nil {
				return err
			}
			var done cluster.End
			switch files := args[2:]; args[1] {
			case "map":
				done, err = f.mapStage(a, cmd, job, files)
			case "reduce":
				if len(files) > 0 || f.split != "" || f.of != 0 {
					return usagef("reduce reads standard input")
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
	cmd.Flags().StringVar(&f.split, "split", "", "part `I/N` of the files, from 0/N on, instead of standard input")
	cmd.Flags().IntVar(&f.of, "of", 0, "the files have this many parts; those to do are lines of standard input")
	cmd.Flags().StringVar(&f.spill.Dir, "spill", "", "leave records in files of this folder, and write their names")
	cmd.Flags().Int64Var(&f.spill.Buckets, "buckets", 1, "ranges of keys in each file of --spill")
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.worker(a))
	}
	return cmd
}

// mapStage maps a part of a corpus.
func (f *clusterFlags) mapStage(a *app, cmd *cobra.Command, job cluster.Job,
	files []string) (done cluster.End, err error) {
	if err := f.check(cmd, job); err != nil {
		return done, err
	}
	an, err := f.corpus.analyzer()
	if err != nil {
		return done, err
	}
	if !cmd.Flags().Changed("format") {
		f.corpus.format = clusterFormat
	}
	var in io.Reader = a.stdin
	var share cluster.Share
	switch {
	case f.split != "" || f.of != 0:
		if share.Parts, share.Of, err = taskNumbers(a.stdin, f.split, f.of); err != nil {
			return done, err
		}
		if len(files) == 0 {
			return done, usagef("parts of which files?")
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
		return done, usagef("%s: files go with --split", files[0])
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

// parseSplit reads I/N.
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
		Use:   "merge JOB PART... --out FILE",
		Short: "Make the result from the output of workers",
		Long: `Merge the streams that stages of a job wrote, all of map or all of reduce, to the result
that 'collocate vocab' or 'collocate cooccur' would make, byte for byte. A PART is a file or a folder,
whose files are parts but for those that begin with _ or a dot, as Spark's _SUCCESS. Parts, the
vocabulary and the result may be in S3, as in s3://bucket/folder.

Merge compares the records that stages say they wrote with those that came: what an engine lost,
changed or repeated is an error, and so is a part of --split or --of that is missing. Maps that read
standard input do not know how many there are.`,
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
	fl.StringVar(&f.corpus.analyzerName, "analyzer", f.corpus.analyzerName,
		"analyzer of the workers, which .cooc files name; "+analyzerHelp())
	fl.BoolVar(&foreign, "foreign-vocab", false,
		"cooccur: the vocabulary is not that of this corpus, so its counts are not compared")
	fl.StringVar(&f.spill.Dir, "spill", "", "folder of the workers' --spill")
	fl.StringVarP(&out, "out", "o", "",
		"file to write, or its address in S3; the name says the format, as in 'collocate cooccur'")
	must(cmd.MarkFlagRequired("out"))
	for _, j := range partJobs(a) {
		cmd.AddCommand(j.merger(a))
	}
	return cmd
}

func (f *clusterFlags) mergeVocab(a *app, cmd *cobra.Command, parts []cluster.Input, out string) error {
	opt, err := f.words.options(a, nil)
	if err != nil {
		return err
	}
	v, stats, err := cluster.MergeWords(cmd.Context(), parts, f.spillOf(a), opt)
	if err != nil {
		return err
	}
	if a.json {
		return a.vocabularyJSON(v, stats, out)
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

// openParts opens the parts of a result.
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
			return nil, closeAll, fmt.Errorf("%s: there are no parts in the folder", path)
		}
	}
	return parts, closeAll, nil
}
