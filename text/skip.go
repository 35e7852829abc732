package text

// badFile is an error before any text of a file was passed on, so that the whole file can be
// skipped.
type badFile struct{ error }

func (b badFile) Unwrap() error { return b.error }

// skips reports a bad file to Options.SkipBad, and returns whether to continue with the next one.
func (f *feeder) skips(in input, err error) bool {
	bad, ok := err.(badFile)
	if !ok || f.corpus.Options.SkipBad == nil || f.ctx.Err() != nil {
		return false
	}
	f.corpus.Options.SkipBad(in.path, bad.error)
	return true
}
