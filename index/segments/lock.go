package segments

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/system"
)

// lockFile is the name of the file that the writer of an index locks. It contains a description of
// the writer's process. The file remains after the writer has closed, but the operating system
// releases the lock when the process ends.
const lockFile = "lock"

// ErrLocked is wrapped by the error of NewWriter if another Writer has the index open.
var ErrLocked = errors.New("another writer has the index open")

// takeLock takes the lock of an index.
func takeLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if ok, err := system.TryLock(f); !ok {
		defer f.Close()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 1000))
		if len(who) == 0 {
			who = []byte("an unknown process")
		}
		return nil, fmt.Errorf("%w: %s is held by %s", ErrLocked, path, strings.TrimSpace(string(who)))
	}
	host, _ := os.Hostname()
	who := fmt.Sprintf("process %d (%s) on %s since %s\n", os.Getpid(), filepath.Base(os.Args[0]),
		host, time.Now().Format(time.RFC3339))
	f.Truncate(0)
	f.WriteAt([]byte(who), 0) // only for messages, so errors are ignored
	return f, nil
}

func releaseLock(f *os.File) error {
	f.Truncate(0)
	return f.Close()
}
