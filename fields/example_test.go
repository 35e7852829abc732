package fields_test

import (
	"fmt"
	"log"

	"github.com/collocate/collocate/fields"
)

// A schema from a list, and the values of one document.
func Example() {
	schema, err := fields.ParseList([]string{"title:text:weight=3", "tags:keyword", "year:number"})
	if err != nil {
		log.Fatal(err)
	}
	values, err := schema.Values(map[string][]string{
		"title": {"A rose is a rose"}, "tags": {"red", "poem"}, "year": {"1913"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		fmt.Printf("%s (%s): %s\n", f.Name, f.Type, f.Line(values[i]))
	}
	// Output:
	// title (text): A rose is a rose
	// tags (keyword): red, poem
	// year (number): 1913
}
