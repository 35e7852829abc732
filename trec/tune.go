package trec

import (
	"errors"
	"fmt"
	"slices"
)

// Validated says how good settings are by topics that did not choose them.
type Validated struct {
	Best  int       // the setting with the highest mean over all topics
	Means []float64 // by setting, over all topics
	Folds []Fold    // the parts of the topics
	// Gain compares the first setting (A) with those that were chosen for each topic without it
	// (B).
	Gain Comparison
}

// Fold is a part of the topics, for which the others choose a setting.
type Fold struct {
	Topics  []string // IDs
	Chosen  int      // the best setting by the other topics
	Value   float64  // its mean over these topics
	Default float64  // that of the first setting
}

// CrossValidate chooses among settings, the first of which is the default, by evaluations with one
// measure over the same topics. Topic i of the evaluation belongs to fold i modulo their number.
// For each fold, the setting with the highest mean over all other topics is chosen, the first of
// those that are equal; its values in the fold are what the choice is worth.
func CrossValidate(settings []*Evaluation, folds int) (*Validated, error) {
	if len(settings) == 0 {
		return nil, errors.New("cross-validate: there are no settings")
	}
	first := settings[0]
	if len(first.Measures) != 1 || !first.Measures[0].PerTopic() {
		return nil, errors.New("cross-validate: want one measure that has values by topic")
	}
	if n := len(first.Topics); folds < 2 || folds > n {
		return nil, fmt.Errorf("cross-validate: %d folds of %d topics: want at least 2, and a topic in each", folds, n)
	}
	for _, e := range settings {
		if !slices.Equal(e.Topics, first.Topics) {
			return nil, errors.New("cross-validate: the settings answer different topics: evaluate with Options.Complete")
		}
	}
	v := &Validated{Best: best(settings, folds, -1), Folds: make([]Fold, folds)}
	for _, e := range settings {
		v.Means = append(v.Means, mean(e, folds, -1, false))
	}
	chosen := &Evaluation{Measures: first.Measures, Topics: first.Topics, Values: make([][]float64, len(first.Topics))}
	for f := range v.Folds {
		fold := &v.Folds[f]
		fold.Chosen = best(settings, folds, f)
		fold.Value, fold.Default = mean(settings[fold.Chosen], folds, f, true), mean(first, folds, f, true)
		for i := f; i < len(first.Topics); i += folds {
			fold.Topics = append(fold.Topics, first.Topics[i])
			chosen.Values[i] = settings[fold.Chosen].Values[i]
		}
	}
	gain, err := Compare(first, chosen)
	if err != nil {
		return nil, err
	}
	v.Gain = gain[0]
	return v, nil
}

// best returns the setting with the highest mean over the topics outside a fold.
func best(settings []*Evaluation, folds, without int) (which int) {
	highest := 0.0
	for i, e := range settings {
		if x := mean(e, folds, without, false); i == 0 || x > highest {
			which, highest = i, x
		}
	}
	return which
}

// mean returns the mean over the topics inside or outside a fold.
func mean(e *Evaluation, folds, fold int, inside bool) float64 {
	sum, n := 0.0, 0
	for i, v := range e.Values {
		if (i%folds == fold) == inside {
			sum, n = sum+v[0], n+1
		}
	}
	return sum / float64(n)
}
