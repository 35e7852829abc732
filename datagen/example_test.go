package datagen_test

import (
	"context"
	"log"
	"os"

	"github.com/collocate/collocate/datagen"
)

// Generate ten words; they are always the same.
func ExampleText() {
	if err := datagen.Text(context.Background(), os.Stdout, datagen.TextOptions{Tokens: 10}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// pevib podit am tefuwojo ag ca tuliv um curehag marasu
}

// Generate points of two features; half of each have a point of the other within a distance of 5.
func ExamplePoints() {
	pattern, err := datagen.ParsePattern("A+B=0.5")
	if err != nil {
		log.Fatal(err)
	}
	o := datagen.PointOptions{Count: 8, Features: 2, Patterns: []datagen.Pattern{pattern}, Distance: 5}
	if err := datagen.Points(context.Background(), os.Stdout, o); err != nil {
		log.Fatal(err)
	}
	// Output:
	// feature,instance,x,y
	// A,1,234.007,603.600
	// A,2,44.412,768.313
	// A,3,919.370,537.415
	// A,4,187.324,416.611
	// B,1,235.419,601.954
	// B,2,43.601,764.489
	// B,3,997.089,193.613
	// B,4,788.537,519.892
}
