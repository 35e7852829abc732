//go:build !unix

package atomicfile

func descriptor(string) (int, bool) { return 0, false }

func stream(string) (*File, error) { return nil, nil }
