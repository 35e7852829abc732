package main

import "github.com/spf13/cobra"

// verbs lists every verb, one file each. A new verb is one line here.
var verbs = []func(*app) *cobra.Command{
	newIndexCmd,
	newTokensCmd,
	newEvalCmd,
	newSearchCmd,
	newGenerateCmd,
	newVocabCmd,
	newCooccurCmd,
	newPlacesCmd,
	newVersionCmd,
}
