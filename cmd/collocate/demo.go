package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/sample"
)

// demoStep is a command and its purpose.
type demoStep struct{ say, run string }

// demoSteps are real commands on the data that ships with Collocate, in an
// order that tells a story. A new job adds its steps here.
var demoSteps = []demoStep{
	{"Index 3,675 paragraphs of 51 life-science articles, with their text.",
		"index elife.jsonl.zst --analyzer english --store-text --out elife.index"},
	{"Which paragraphs are about this? Exact top 3, with snippets.",
		`search elife.index "lipid droplets kill bacteria" -k 3 --snippets`},
	{"What did each word contribute?",
		`search elife.index "lipid droplets kill bacteria" -k 1 --explain`},
	{"Which words co-occur? Count pairs at most 5 words apart.",
		"cooccur elife.jsonl.zst --format jsonl --analyzer unicode --min-count 5 --window 5 --symmetric --out elife.cooc"},
	{"The strongest associations of two words, by normalized PMI.",
		"neighbours elife.cooc membrane neurons --by npmi --min-count 10 --top 6"},
	{"The collocates of a word by two measures, with the number of articles that have the pair.",
		`collocations elife.jsonl.zst --of membrane --by logdice,mi --group "^[^.]+" --top 4`},
	{"A phrase in its contexts, in the order of what stands before it.",
		`concordance elife.index '"plasma membran*"' --sort L1,L2 --window 5 --top 5`},
	{"Vectors of words, from the pairs.",
		"embed elife.cooc --method svd --dim 50 --out elife.vec"},
	{"Which words are used alike?",
		"similar elife.vec membrane --top 5"},
	{"Which kinds of places in Washington, DC are found within 100 metres of each other?",
		"places places-dc.csv.zst --geographic --skip-bad --distance 100 --min-prevalence 0.2 --min-points 20 --svg places.svg"},
}

// demoServer serves the files that demoSteps write to a browser.
const demoServer = "serve elife.index --matrix elife.cooc --vectors elife.vec --points places-dc.csv.zst --geographic --skip-bad --min-points 20"

func newDemoCmd(a *app) *cobra.Command {
	var dir, addr string
	var serve bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run every job on small real data",
		Long: `Run every job on small real data that ships with Collocate: paragraphs of eLife articles and
places of OpenStreetMap. Each command is printed before it runs, so that you can go on from there
with --dir. With --serve the files are made and then served: open the printed address in a
browser.`,
		GroupID: groupTools,
		Args:    cobra.NoArgs,
		Example: `  collocate demo
  collocate demo --dir trial     # keep the files
  collocate demo --serve         # look at it in a browser`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.rawOutput("the demo is for people; each of its commands takes --json"); err != nil {
				return err
			}
			steps := demoSteps
			if serve {
				steps = nil
				for _, step := range demoSteps {
					if strings.Contains(step.run, " --out ") {
						steps = append(steps, step)
					}
				}
				steps = append(steps, demoStep{"Look at it in a browser. Ctrl-C ends the server.",
					demoServer + " --addr " + addr})
			} else if cmd.Flags().Changed("addr") {
				return usagef("--addr needs --serve")
			}
			if dir == "" {
				tmp, err := os.MkdirTemp("", "collocate-demo-*")
				if err != nil {
					return err
				}
				defer os.RemoveAll(tmp)
				return a.demo(cmd, tmp, steps)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := a.demo(cmd, dir, steps); err != nil || serve {
				return err
			}
			fmt.Fprintf(a.stdout, "\nThe files are in %s.\n", dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "serve the data, for a browser")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "with --serve: address to listen on; port 0 means any free port")
	cmd.Flags().StringVar(&dir, "dir", "", "write the files to this folder and keep them (default: a temporary folder)")
	return cmd
}

// demo changes to the folder dir, so that it can run the commands exactly as it prints them.
func (a *app) demo(cmd *cobra.Command, dir string, steps []demoStep) error {
	for _, put := range []func(string) (string, error){sample.Elife, sample.PlacesDC} {
		if _, err := put(dir); err != nil {
			return err
		}
	}
	home, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	defer os.Chdir(home)
	for i, step := range steps {
		space := ""
		if i > 0 {
			space = "\n"
		}
		if _, err := fmt.Fprintf(a.stdout, "%s# %s\n$ collocate %s\n", space, step.say, step.run); err != nil {
			return err
		}
		sub := newApp(a.stdin, a.stdout, a.stderr)
		root := newRoot(sub, append(shellWords(step.run), a.globalFlags()...)...)
		err := root.ExecuteContext(cmd.Context())
		sub.endProgress()
		if err != nil {
			return fmt.Errorf("%s: %w", step.run, err)
		}
	}
	return nil
}

// globalFlags returns the global flags of this call as arguments for the demo's commands.
func (a *app) globalFlags() []string {
	return []string{
		"--engine=" + a.engine.String(),
		fmt.Sprintf("--threads=%d", a.threads),
		fmt.Sprintf("--memory=%dB", int64(a.memory)),
		fmt.Sprintf("--device=%d", a.gpu.Ordinal),
		fmt.Sprintf("--gpu-memory=%dB", a.gpu.Memory),
		fmt.Sprintf("--quiet=%t", a.quiet),
		fmt.Sprintf("--verbose=%t", a.verbose),
	}
}

// shellWords splits a demo's command at blanks outside quotes, as a shell does.
func shellWords(s string) (words []string) {
	var word strings.Builder
	quote, began := rune(0), false
	for _, c := range s + " " {
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, began = c, true
		case quote == 0 && c == ' ':
			if began {
				words = append(words, word.String())
			}
			word.Reset()
			began = false
		default:
			word.WriteRune(c)
			began = true
		}
	}
	return words
}
