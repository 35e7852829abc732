package main

import "github.com/spf13/cobra"

// verb is the name of a verb and what makes it.
type verb struct {
	name string
	make func(*app) *cobra.Command
}

// verbs lists every verb, one file each. A new verb is one line here. (A function,
// since the demo runs the other verbs.)
func verbs() []verb {
	return []verb{
		{"index", newIndexCmd},
		{"tokens", newTokensCmd},
		{"eval", newEvalCmd},
		{"search", newSearchCmd},
		{"beir", newBEIRCmd},
		{"show", newShowCmd},
		{"serve", newServeCmd},
		{"mcp", newMCPCmd},
		{"shard", newShardCmd},
		{"weigh", newWeighCmd},
		{"generate", newGenerateCmd},
		{"vocab", newVocabCmd},
		{"cooccur", newCooccurCmd},
		{"neighbours", newNeighboursCmd},
		{"collocations", newCollocationsCmd},
		{"concordance", newConcordanceCmd},
		{"keywords", newKeywordsCmd},
		{"ngrams", newNgramsCmd},
		{"wordlist", newWordlistCmd},
		{"dispersion", newDispersionCmd},
		{"embed", newEmbedCmd},
		{"similar", newSimilarCmd},
		{"analogy", newAnalogyCmd},
		{"places", newPlacesCmd},
		{"demo", newDemoCmd},
		{"bench", newBenchCmd},
		{"gpu", newGPUCmd},
		{"dict", newDictCmd},
		{"cluster", newClusterCmd},
		{"version", newVersionCmd},
		{"worker", newWorkerCmd},
	}
}

// verbsFor are the verbs that a call needs: all of them, for help and for mistakes, unless the call
// begins with the name of one. To make all took a third of the CPU time of `collocate version`:
// 10.5 against 6.7 ms, mean of 400.
func verbsFor(args []string) []verb {
	all := verbs()
	for i, v := range all {
		if len(args) > 0 && v.name == args[0] {
			return all[i : i+1]
		}
	}
	return all
}
