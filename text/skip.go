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
	if long, ok := bad.error.(*longDocument); ok {
		bad.error = position{}.place(long)
	}
	f.tellBad(in.path, bad.error)
	return true
}

// tellBad passes a bad file on to Options.SkipBad, one at a time.
func (f *feeder) tellBad(path string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.corpus.Options.SkipBad(path, err)
}
