// Package npz lets package weigh write NumPy's archives. A program that does imports it for that
// effect:
//
//	import _ "github.com/collocate/collocate/weigh/npz"
//
// Experimental: it may change with any version; package collocate says what may not.
package npz

import (
	"io"

	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/weigh"
)

func init() {
	weigh.RegisterNPZ(func(to io.Writer) weigh.NPZWriter { return writer{npz.NewWriter(to)} })
}

type writer struct{ *npz.Writer }

func (w writer) Stream(name, of string, n int64, fill func(to io.Writer) error) {
	w.Writer.Stream(name, npz.Type(of), n, fill)
}
