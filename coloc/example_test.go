package coloc_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/points"
)

// examplePoints returns the points of the example in the package documentation.
func examplePoints() *coloc.Points {
	var b points.Builder
	for feature, at := range map[string][][2]float64{
		"A": {{1.75, 1.75}, {5.45, 3.75}, {8.5, 3.25}, {4.25, 5}},
		"B": {{2.1, 0.5}, {10.65, 0.85}, {13.74, 3.9}, {6.25, 1.35}, {15.1, 6}},
		"C": {{8.65, 1}, {0.1, 3.3}, {14.2, 5.5}},
	} {
		for _, p := range at {
			b.Add(p[0], p[1], feature)
		}
	}
	return b.Set()
}

// Find the maximal patterns of the example in the package documentation.
func ExampleMine() {
	pts := examplePoints()
	result, err := coloc.Mine(context.Background(), pts, coloc.Options{Distance: 2.95, MinPrevalence: 0.4})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range result.Patterns {
		fmt.Printf("%v %.2f\n", pts.Names(p.Features), p.Index)
	}
	// Output:
	// [A B] 0.40
	// [A C] 0.50
	// [B C] 0.67
}

// Rules say how often a feature occurs near another one.
func ExampleSurvey_Rules() {
	pts := examplePoints()
	survey, err := coloc.NewSurvey(pts, coloc.Options{Distance: 2.95, MinPrevalence: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	result, err := survey.Mine(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	rules, err := survey.Rules(context.Background(), result.Patterns, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	report := coloc.NewReport(pts, result)
	report.AddRules(pts, rules)
	if err := report.WriteTable(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// SIZE  INDEX   PATTERN  PARTICIPATING POINTS
	// 2     0.5000  A, C     2/4  2/3
	// 2     0.6667  B, C     4/5  2/3
	//
	// PROBABILITY  INDEX   RULE    INSTANCES
	// 0.5000       0.5000  A => C  2/4
	// 0.6667       0.5000  C => A  2/3
	// 0.8000       0.6667  B => C  4/5
	// 0.6667       0.6667  C => B  2/3
}
