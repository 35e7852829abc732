package docset_test

import (
	"fmt"

	"github.com/collocate/collocate/docset"
)

// The documents that match a filter and were not deleted.
func Example() {
	live := docset.Full(6) // documents 0 to 5
	live.Remove(2)
	wanted := docset.New(6)
	wanted.AddRange(1, 4)
	wanted.And(live)
	for d := range wanted.All() {
		fmt.Print(d, " ")
	}
	fmt.Println("are", wanted.Count(), "documents")
	// Output: 1 3 are 2 documents
}
