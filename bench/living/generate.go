package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/datagen"
)

// generate writes the sentences and queries of 'collocate generate', for machines without that
// command.
func generate(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("generate", flag.ExitOnError)
	docs := f.Int64("docs", 1_000_000, "sentences")
	to := f.String("to", ".", "folder for docs.txt and queries.tsv")
	f.Parse(args)
	err := writeTo(filepath.Join(*to, "docs.txt"), func(file *os.File) error {
		return datagen.Text(ctx, file, datagen.TextOptions{Docs: *docs, Lines: true})
	})
	if err != nil {
		return err
	}
	return writeTo(filepath.Join(*to, "queries.tsv"), func(file *os.File) error {
		return datagen.Queries(ctx, file, datagen.QueryOptions{Count: 400, Law: datagen.News, Mu: 3.171, Sigma: 0.5})
	})
}

func writeTo(path string, write func(*os.File) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
