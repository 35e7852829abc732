package dict_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/dict"
)

// A dictionary in a file: words to numbers, in byte order, and back.
func Example() {
	dir, err := os.MkdirTemp("", "dict-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "words.dict")

	words, err := dict.ReadWords(strings.NewReader("rose\nthorn\ndaisy\nrose\n"))
	if err != nil {
		log.Fatal(err)
	}
	if err := dict.BuildFile(context.Background(), words, dict.Options{Kind: dict.XBW}, path); err != nil {
		log.Fatal(err)
	}

	d, err := dict.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	id, ok := d.ID([]byte("rose"))
	fmt.Println(id, ok, string(d.Word(nil, id)))
	_, ok = d.ID([]byte("tulip"))
	fmt.Println(ok)
	// Output:
	// 1 true rose
	// false
}
