//go:build !linux

package atomicfile

import "os"

// startWriting does nothing: other systems have no such call.
func startWriting(*os.File, int64, int64) {}
