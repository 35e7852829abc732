package main

import "github.com/spf13/cobra"

// verbs lists every verb, one file each. A new verb is one line here. (A function,
// since the demo runs the other verbs.)
func verbs() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		newIndexCmd,
		newTokensCmd,
		newEvalCmd,
		newSearchCmd,
		newBEIRCmd,
		newShowCmd,
		newServeCmd,
		newMCPCmd,
		newShardCmd,
		newWeighCmd,
		newGenerateCmd,
		newVocabCmd,
		newCooccurCmd,
		newNeighboursCmd,
		newCollocationsCmd,
		newConcordanceCmd,
		newKeywordsCmd,
		newNgramsCmd,
		newWordlistCmd,
		newDispersionCmd,
		newEmbedCmd,
		newSimilarCmd,
		newAnalogyCmd,
		newPlacesCmd,
		newDemoCmd,
		newBenchCmd,
		newGPUCmd,
		newDictCmd,
		newClusterCmd,
		newVersionCmd,
		newWorkerCmd,
	}
}
