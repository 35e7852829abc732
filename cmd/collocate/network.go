package main

import (
	"io"

	"github.com/collocate/collocate/words"
)

// writeNetwork writes associations as a network, in the format of the file's ending.
func (a *app) writeNetwork(path string, list []words.Association) error {
	write, err := words.NetworkFormat(path)
	if err != nil {
		return err
	}
	return a.writeTo(path, func(w io.Writer) error { return write(words.NetworkOf(list), w) })
}
