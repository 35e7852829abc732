package vectors_test

import (
	"fmt"
	"log"

	"github.com/collocate/collocate/vectors"
)

// The words that are most similar to one.
func Example() {
	v, err := vectors.New([]string{"rose", "tulip", "tractor"}, 2, []float32{3, 1, 4, 2, 0, 5})
	if err != nil {
		log.Fatal(err)
	}
	list, err := v.Similar("rose", 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range list {
		fmt.Printf("%s %.2f\n", n.Word, n.Cosine)
	}
	// Output:
	// tulip 0.99
	// tractor 0.32
}
