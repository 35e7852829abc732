package main

import "github.com/spf13/cobra"

// verb is a verb's name and the constructor of its command.
type verb struct {
	name string
	make func(*app) *cobra.Command
}

// verbs lists every verb.
func verbs() []verb { return withQuestions(ownVerbs()) }

// ownVerbs lists the verbs with a file of their own. A new verb is one line here, but questions
// about words need none. It is a function, not a variable, because the demo runs other verbs, which
// would be an initialization cycle.
func ownVerbs() []verb {
	return []verb{
		{"index", newIndexCmd},
		{"sync", newSyncCmd},
		{"tokens", newTokensCmd},
		{"eval", newEvalCmd},
		{"fuse", newFuseCmd},
		{"tune", newTuneCmd},
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

// verbsFor returns the verbs that a call needs: the one that it begins with, or all for help and
// for unknown names. Making all of them took a third of the CPU time of `collocate version`: 10.5
// instead of 6.7 ms, mean of 400.
func verbsFor(args []string) []verb {
	all := verbs()
	for i, v := range all {
		if len(args) > 0 && v.name == args[0] {
			return all[i : i+1]
		}
	}
	return all
}
