package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api/flags"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/cpu"
	"github.com/collocate/collocate/internal/energy"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/weigh"
)

// app is what all verbs share: the global flags and the three streams.
type app struct {
	engine      engine.Kind
	threads     int
	memory      bytesize.Size
	gpu         engine.Device
	moreDevices []int // of --more-devices
	json        bool
	quiet       bool
	verbose     bool
	bom         bool // tables begin with a byte order mark
	stats       bool // measure the energy; see registerStats
	powercap    string

	stdin io.Reader
	// spooled is the file that standard input was copied to, to be read twice; "" if none was.
	spooled string
	stdout  io.Writer
	stderr  io.Writer
	log     *slog.Logger

	bars progressBars

	views   map[string]*bucket.View // of indexes in buckets, by their folders
	arrived chan struct{}           // holds a value if views have newer generations than before

	noted   sync.Map // lines that note has written
	skipped sync.Map // paths of files that --skip-bad left out
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		threads: runtime.GOMAXPROCS(0),
		memory:  2 * bytesize.GB, powercap: energy.Powercap,
		stdin: stdin, stdout: stdout, stderr: stderr,
		log: slog.New(slog.DiscardHandler), views: map[string]*bucket.View{},
		arrived: make(chan struct{}, 1),
	}
}

// The groups under which verbs are listed in --help.
const (
	groupSearch = "search"
	groupWords  = "words"
	groupPlaces = "places"
	groupTools  = "tools"
)

func init() { cobra.AddTemplateFunc("groupedFlags", groupedFlags) }

// help begins with what most people need. The part of a command's Long behind the line More:
// follows its flags.
func help(cmd *cobra.Command, _ []string) {
	intro, more, found := strings.Cut(cmp.Or(cmd.Long, cmd.Short), "\n\nMore:\n")
	text := intro + "\n\n" + cmd.UsageString()
	if found {
		text += "\nMore:\n" + more + "\n"
	}
	io.WriteString(cmd.OutOrStdout(), text)
}

// newRoot makes the commands that a call with these arguments needs, or all if there are none.
func newRoot(a *app, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "collocate",
		Short: "Find what belongs together",
		Long: `Collocate finds what belongs together: words with documents (search), words
with words (co-occurrence), kinds of places with kinds of places (co-location).
All engines give the same result to the bit.`,
		Example: `  collocate demo
  collocate index papers.jsonl --analyzer english --out papers.index
  collocate search papers.index "bacteria that resist antibiotics"
  collocate cooccur news.txt --window 5 --out news.cooc
  collocate places shops.csv --distance 100 --min-prevalence 0.3`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: a.prepare,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return withHelp(cmd, unknownVerb(cmd, args[0]))
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)

	f := root.PersistentFlags()
	f.Var(textFlag{&a.engine, "engine"}, "engine", "auto, sequential, multicore or gpu; all give the same result")
	f.IntVar(&a.threads, "threads", a.threads, "number of CPU threads")
	f.Var(&a.memory, "memory", "bound on working memory, such as 512MB or 4GB")
	f.IntVar(&a.gpu.Ordinal, "device", 0, "number of the GPU to use, as 'collocate gpu' lists them")
	f.Var((*bytesize.Size)(&a.gpu.Memory), "gpu-memory",
		"bound on the GPU's memory, such as 8GB; 0B means most of what is free")
	f.BoolVar(&a.json, "json", false, "print results as JSON")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress, no summaries and no notes, except on guesses that change the result")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log what is done and chosen to standard error")
	choices(root, map[string][]string{"engine": {"auto", "sequential", "multicore", "gpu"}})

	root.AddGroup(
		&cobra.Group{ID: groupSearch, Title: "Words with documents:"},
		&cobra.Group{ID: groupWords, Title: "Words with words:"},
		&cobra.Group{ID: groupPlaces, Title: "Places with places:"},
		&cobra.Group{ID: groupTools, Title: "Tools:"},
	)
	for _, v := range verbsFor(args) {
		root.AddCommand(v.make(a))
	}
	root.SetHelpCommandGroupID(groupTools)
	root.SetCompletionCommandGroupID(groupTools)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refineDefaults(root)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", "groupedFlags .LocalFlags").Replace(root.UsageTemplate()))
	root.SetHelpFunc(help)
	wrapArgs(root)
	root.SetArgs(args)
	return root
}

// refineDefaults makes the commands that cobra adds as strict as ours: an unknown subcommand is
// wrong usage.
func refineDefaults(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Run = nil
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return withHelp(root, unknownVerb(root, strings.Join(args, " ")))
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
			cmd.Example = "  collocate help index"
		case "completion":
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			cmd.Example = "  source <(collocate completion bash)"
		}
	}
}

// prepare runs before every verb: it checks the global flags, and that no input is overwritten.
func (a *app) prepare(cmd *cobra.Command, args []string) error {
	if err := cpu.Err(); err != nil {
		return usageError{err}
	}
	if a.threads < 1 || a.threads > maxThreads {
		return usagef("--threads %d: want 1 to %d", a.threads, maxThreads)
	}
	if a.memory < 16*bytesize.MB {
		return usagef("--memory %v: want at least 16MB", a.memory)
	}
	if a.gpu.Ordinal < 0 {
		return usagef("--device %d: want 0 or more", a.gpu.Ordinal)
	}
	if a.gpu.Memory != 0 && bytesize.Size(a.gpu.Memory) < minGPUMemory {
		return usagef("--gpu-memory %v: want at least %v", bytesize.Size(a.gpu.Memory), minGPUMemory)
	}
	if a.engine == engine.GPU && cmd.Annotations[gpuAnnotation] == "" {
		return usagef("--engine gpu: %shas no GPU engine; use auto, multicore or sequential", verbPath(cmd))
	}
	// A server takes no engine: search refuses the flag with the others that are not for servers.
	if len(args) == 0 || !isServer(args[0]) {
		if err := a.checkMoreDevices(); err != nil {
			return err
		}
	}
	a.boundMemory(cmd)
	if a.verbose {
		a.log = slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	return a.keepInputs(cmd, args)
}

// hasGPU are the annotations of a verb with a GPU engine. For all other verbs, prepare refuses
// --engine gpu.
var hasGPU = map[string]string{gpuAnnotation: "yes"}

const gpuAnnotation = "gpu"

// minGPUMemory is enough for the smallest chunks and their tables.
const minGPUMemory = 64 * bytesize.MB

// maxThreads bounds --threads, since each thread costs memory. No machine has as many cores.
const maxThreads = 1024

// textThreads returns --threads, or fewer if --memory is too small for them.
func (a *app) textThreads() int {
	n := weigh.BoundThreads(a.threads, int64(a.memory))
	if n < a.threads {
		a.log.Info("fewer threads, to stay within --memory", "threads", n, "wanted", a.threads, "memory", a.memory)
	}
	return n
}

// printJSON writes a result as indented JSON.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// rawOutput refuses --json while standard output has a format of its own, such as a run or a
// corpus. If that goes to a file, --json prints a summary instead.
func (a *app) rawOutput(format string, args ...any) error {
	if !a.json {
		return nil
	}
	return usagef("--json: "+format, args...)
}

// textFlag makes a flag of a value that marshals itself as text; kind names the type of such values
// in help texts.
type textFlag struct {
	value interface {
		encoding.TextUnmarshaler
		fmt.Stringer
	}
	kind string
}

func (f textFlag) String() string        { return f.value.String() }
func (f textFlag) Set(text string) error { return f.value.UnmarshalText([]byte(text)) }
func (f textFlag) Type() string          { return f.kind }

// choices stores the values of flags for shell completion.
func choices(cmd *cobra.Command, of map[string][]string) {
	for name, values := range of {
		f := cmd.Flag(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[flags.Choices] = values
	}
}

// completeChoices registers the values of choices with cobra, in calls for shell completion only:
// cobra keeps them, and with them all commands, for the life of the process.
func completeChoices(root *cobra.Command, args []string) {
	if len(args) == 0 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if values := f.Annotations[flags.Choices]; values != nil {
					must(cmd.RegisterFlagCompletionFunc(f.Name,
						cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
				}
			})
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(root)
}

// summary writes a line about what was done to standard error, unless --quiet.
func (a *app) summary(format string, args ...any) {
	if !a.quiet {
		a.endProgress()
		fmt.Fprintln(a.stderr, a.said(fmt.Sprintf(format, args...)))
	}
}

// note writes a line to standard error on what was guessed or left out, unless --quiet. The same
// line is written once, also if a verb reads a corpus several times.
func (a *app) note(line string) {
	if _, told := a.noted.LoadOrStore(line, true); !told {
		a.summary("note: %s", line)
	}
}

// guess writes a line on a guess that changes the result, even with --quiet, and once.
func (a *app) guess(line string) {
	if _, told := a.noted.LoadOrStore(line, true); !told {
		a.warn("note: %s", line)
	}
}

// warn writes a line to standard error even with --quiet.
func (a *app) warn(format string, args ...any) {
	a.endProgress()
	fmt.Fprintln(a.stderr, a.said(fmt.Sprintf(format, args...)))
}

// said returns a message of the library as the command says it: with flags, and with standard input
// by its name instead of that of its copy.
func (a *app) said(message string) string {
	if a.spooled != "" {
		message = strings.ReplaceAll(message, a.spooled, "stdin")
	}
	return option.Flags(message)
}

// skip names a file that --skip-bad leaves out, once, even if a verb reads the corpus twice.
func (a *app) skip(path string, err error) {
	if _, told := a.skipped.LoadOrStore(path, true); !told {
		a.warn("skipped %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// tellSkipped prints the number of files that were left out.
func (a *app) tellSkipped() {
	n := 0
	a.skipped.Range(func(any, any) bool { n++; return true })
	if n > 0 {
		a.warn("left out %s (--skip-bad)", counted(n, "file"))
	}
}

// counted returns a number with its noun in singular or plural.
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func must(err error) {
	if err != nil {
		panic(err) // an error in the program's own tables, which every test would meet
	}
}
