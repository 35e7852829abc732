package api

import "github.com/collocate/collocate/search"

// Meaning ranks documents by the similarity of vectors, alone or together with words.
type Meaning struct {
	Vector       []float64     `ask:"vector" group:"Vectors" help:"rank by the similarity of this vector to those of documents, exactly: alone, or added to the score of the query's words, which then only add; as many numbers as the field has dimensions"`
	Like         string        `ask:"like" group:"Vectors" not:"root: the document and its vector are in one shard: send the vector" help:"rank by the similarity to the vector of the document with this ID, instead of a vector of your own; the document itself is a hit like others"`
	VectorField  string        `ask:"vector_field" group:"Vectors" help:"the field with the documents' vectors; it may be left out if there is only one"`
	VectorWeight float64       `ask:"vector_weight" group:"Vectors" default:"1" above:"0" range:"..1e6" help:"weight of the similarity beside words"`
	WordWeight   float64       `ask:"word_weight" group:"Vectors" default:"1" above:"0" range:"..1e6" help:"weight of the words' score beside a vector"`
	Fusion       search.Fusion `ask:"fusion" group:"Vectors" default:"sum" not:"root: the others need lists or maxima of all shards, so that a root adds with weights" help:"how words and vector become one score: sum: added with their weights; shares: the same, each divided by the best score or similarity of any document; rrf: weight/(60+rank) in the lists of the best by each, added"`
	Depth        int           `ask:"depth" group:"Vectors" default:"100" range:"1..1048576" not:"root: it is for rrf" help:"rrf: length of the lists that are combined"`
}

// nearest returns the part of a request for a vector; nil without one.
func (q *Meaning) nearest() (*search.Nearest, error) {
	if len(q.Vector) == 0 && q.Like == "" {
		for _, p := range []struct {
			name  string
			given bool
		}{{"vector_field", q.VectorField != ""}, {"vector_weight", q.VectorWeight != 0 && q.VectorWeight != 1},
			{"word_weight", q.WordWeight != 0 && q.WordWeight != 1}, {"fusion", q.Fusion != search.WeightedSum},
			{"depth", q.Depth != 0 && q.Depth != 100}} {
			if p.given {
				return nil, wrongf(p.name, "it needs a vector, or like")
			}
		}
		return nil, nil
	}
	if len(q.Vector) > 0 && q.Like != "" {
		return nil, wrongf("like", "there is a vector beside it: give one of them")
	}
	n := &search.Nearest{Field: q.VectorField, Like: q.Like, Weight: q.VectorWeight, WordWeight: q.WordWeight, Fusion: q.Fusion, Depth: q.Depth}
	for _, x := range q.Vector {
		n.Vector = append(n.Vector, float32(x))
	}
	if q.Depth != 0 && q.Depth != 100 && q.Fusion != search.ReciprocalRanks {
		return nil, wrongf("depth", "it is for fusion rrf")
	}
	return n, nil
}
