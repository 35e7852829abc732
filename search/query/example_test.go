package query_test

import (
	"fmt"
	"log"

	"github.com/collocate/collocate/search/query"
)

// A query as it is written, and as the parser understands it.
func ExampleParse() {
	q, err := query.Parse(`rose AND "wild thing" NOT thorn`, query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(q)
	// Output:
	// rose AND "wild thing" -thorn
}
