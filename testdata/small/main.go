// Command small is the least program with an index: it opens one and searches. Its weight is tested.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/collocate/collocate"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, query string) error {
	x, err := collocate.Open(dir, collocate.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	found, err := x.Search(context.Background(), collocate.Request{Query: query})
	if err != nil {
		return err
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID, hit.Score)
	}
	return nil
}
