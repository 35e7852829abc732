package engine_test

import (
	"fmt"

	"github.com/collocate/collocate/engine"
)

func ExampleParse() {
	kind, err := engine.Parse("multicore")
	fmt.Println(kind, err)
	_, err = engine.Parse("steam")
	fmt.Println(err)
	// Output:
	// multicore <nil>
	// unknown engine "steam": want auto, sequential, multicore or gpu
}
