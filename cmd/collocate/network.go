package main

import (
	"io"

	"github.com/collocate/collocate/words"
)

// writeNetwork draws associations as the file's name says.
func (a *app) writeNetwork(path string, list []words.Association) error {
	write, err := words.NetworkFormat(path)
	if err != nil {
		return err
	}
	return a.writeTo(path, func(w io.Writer) error { return write(words.NetworkOf(list), w) })
}
