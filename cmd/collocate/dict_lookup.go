package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
)

func newDictLookupCmd(a *app) *cobra.Command {
	var byID bool
	cmd := &cobra.Command{
		Use:         "lookup FILE [WORD...]",
		Short:       "Print the numbers of words, or the words of numbers",
		Annotations: hasGPU,
		Long: `Print each word with its number, or - if it is not in the dictionary. Without words, read them
from standard input, one per line. With --id, print the words of numbers; a number without a
word is an error, reported after all others are printed.

With --engine gpu, words are looked up on a GPU, very many at a time: for dictionaries of the kinds
xbw, xbw-plain, xbw-paper and stt. With --more-devices, several GPUs share the words.`,
		Example: `  collocate dict lookup words.dict house tree
  collocate dict lookup words.dict --id 0 1 2
  collocate dict lookup words.dict --engine gpu <text.txt >numbers.tsv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if byID && a.engine == engine.GPU {
				return usagef("--id needs CPU cores; leave out --engine gpu")
			}
			d, err := openDict(args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			l := newLookUp(a, d, byID)
			if a.engine == engine.GPU {
				if l.gpu, err = d.OpenGPU(a.gpu, a.alsoGPUs()...); err != nil {
					return err
				}
				l.gpu.Log = a.log
				defer func() { err = errors.Join(err, l.gpu.Close()) }()
			}
			return l.run(cmd.Context(), args[1:])
		},
	}
	cmd.Flags().BoolVar(&byID, "id", false, "look up numbers")
	a.registerSharing(cmd, "the words, each with a copy of the dictionary")
	return cmd
}

// lookUp looks up words or, with --id, numbers.
type lookUp struct {
	*app
	d    *dict.File
	byID bool
	out  *bufio.Writer
	list []wordID // the results, for --json

	unknown []string // numbers that no word has

	gpu  *dict.GPU // nil on cores
	text dict.Text // words collected for the next batch on the GPU
}

type wordID struct {
	Word string  `json:"word"`
	ID   *uint32 `json:"id"`
}

func newLookUp(a *app, d *dict.File, byID bool) *lookUp {
	return &lookUp{app: a, d: d, byID: byID, out: bufio.NewWriter(a.stdout), list: []wordID{}}
}

// run looks up the arguments or, without any, the lines of standard input.
func (l *lookUp) run(ctx context.Context, args []string) error {
	for _, q := range args {
		if err := l.ask(ctx, []byte(q)); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		in := bufio.NewScanner(l.stdin)
		in.Buffer(nil, 1<<30)
		for in.Scan() {
			if err := l.ask(ctx, bytes.TrimSuffix(in.Bytes(), []byte("\r"))); err != nil {
				return err
			}
		}
		if err := in.Err(); err != nil {
			return err
		}
	}
	if l.gpu != nil {
		if err := l.askGPU(ctx); err != nil {
			return err
		}
	}
	var err error
	switch n := len(l.unknown); {
	case n == 1:
		err = fmt.Errorf("no word has the number %q: there are %d, from 0", l.unknown[0], l.d.Len())
	case n > 1:
		err = fmt.Errorf("no word has the number %q, nor %s: there are %d, from 0", l.unknown[0],
			counted(n-1, "other"), l.d.Len())
	}
	if l.json {
		return errors.Join(l.printJSON(l.list), err)
	}
	return errors.Join(l.out.Flush(), err)
}

// ask looks up one word or number, or adds it to the batch for the GPU.
func (l *lookUp) ask(ctx context.Context, q []byte) error {
	switch {
	case l.byID:
		n, err := strconv.ParseUint(string(q), 10, 31)
		if err != nil || int(n) >= l.d.Len() {
			l.unknown = append(l.unknown, string(q))
			if l.json {
				return nil
			}
			_, err := fmt.Fprintf(l.out, "-\t%s\n", q)
			return err
		}
		return l.answer(l.d.Word(nil, uint32(n)), uint32(n))
	case l.gpu != nil:
		l.text.Add(q)
		// Besides its characters a word takes 8 bytes for its end, 8 for its reference on the
		// device, and 4 for its number.
		if int64(l.text.Chars()+20*l.text.Len()) < int64(l.memory)/4 {
			return nil
		}
		return l.askGPU(ctx)
	}
	id, ok := l.d.ID(q)
	if !ok {
		id = dict.None
	}
	return l.answer(q, id)
}

// askGPU looks up the batch of collected words.
func (l *lookUp) askGPU(ctx context.Context) error {
	ids, err := l.gpu.IDs(ctx, &l.text)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if err := l.answer(l.text.Word(i), id); err != nil {
			return err
		}
	}
	l.text.Reset()
	return nil
}

func (l *lookUp) answer(word []byte, id uint32) (err error) {
	if l.json {
		r := wordID{Word: string(word)}
		if id != dict.None {
			r.ID = &id
		}
		l.list = append(l.list, r)
		return nil
	}
	if id == dict.None {
		_, err = fmt.Fprintf(l.out, "%s\t-\n", word)
	} else {
		_, err = fmt.Fprintf(l.out, "%s\t%d\n", word, id)
	}
	return err
}
