package dict_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/dict"
)

// A dictionary in a file, which maps words to numbers and back.
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

// Many words at once, on all cores; on a GPU with LookUpOptions{Engine: engine.GPU}.
func ExampleFile_IDs() {
	words := &dict.Words{}
	for _, w := range []string{"ant", "bee", "cat"} {
		if err := words.Add([]byte(w)); err != nil {
			fmt.Println(err)
			return
		}
	}
	var file bytes.Buffer
	if err := dict.Build(context.Background(), words, dict.Options{Kind: dict.Hash}, &file); err != nil {
		fmt.Println(err)
		return
	}
	d, err := dict.Parse(file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	text := &dict.Text{}
	for _, w := range strings.Fields("cat and bee and cat") {
		text.Add([]byte(w))
	}
	ids, err := d.IDs(context.Background(), text, dict.LookUpOptions{})
	for i, id := range ids {
		if id == dict.None {
			fmt.Printf("%s? ", text.Word(i))
			continue
		}
		fmt.Printf("%s %d ", text.Word(i), id)
	}
	fmt.Println(err)
	// Output: cat 2 and? bee 1 and? cat 2 <nil>
}
