package text

// badFile is an error that was met before any text of a file was handed on, so that the file can be
// left out as a whole.
type badFile struct{ error }

func (b badFile) Unwrap() error { return b.error }

// skips tells Options.SkipBad of a bad file, and whether to go on with the next one.
func (f *feeder) skips(in input, err error) bool {
	bad, ok := err.(badFile)
	if !ok || f.corpus.Options.SkipBad == nil || f.ctx.Err() != nil {
		return false
	}
	f.corpus.Options.SkipBad(in.path, bad.error)
	return true
}
