package trec_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/collocate/collocate/trec"
)

// Two relevant documents, found at ranks 1 and 3.
func ExampleEvaluate() {
	qrels, err := trec.ParseQrels(strings.NewReader("301 0 FT934-1 1\n301 0 FT911-3 0\n301 0 FT922-7 1\n"), "qrels", trec.Auto)
	if err != nil {
		log.Fatal(err)
	}
	run, err := trec.ParseRun(strings.NewReader(
		"301 Q0 FT934-1 1 9.5 mine\n301 Q0 FT911-3 2 8.2 mine\n301 Q0 FT922-7 3 7.9 mine\n"), "run")
	if err != nil {
		log.Fatal(err)
	}
	measures, err := trec.ParseMeasures("map", "P_2", "recip_rank")
	if err != nil {
		log.Fatal(err)
	}
	e, err := trec.Evaluate(qrels, run, measures, trec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, m := range e.Measures {
		fmt.Printf("%-10s %.4f\n", m.Name, e.All[i])
	}
	// Output:
	// map        0.8333
	// P_2        0.5000
	// recip_rank 1.0000
}

// Equal scores are written as descending ones, so that sorting keeps the order.
func ExampleRunWriter() {
	answers := []string{"FT934-1", "FT911-3"}
	w := trec.NewRunWriter(os.Stdout, "mine")
	err := w.Topic("301", len(answers), func(i int) (string, float32) { return answers[i], 7.5 })
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 301 Q0 FT934-1 1 7.5 mine
	// 301 Q0 FT911-3 2 7.4999995 mine
}
