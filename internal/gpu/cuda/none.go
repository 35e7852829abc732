//go:build !linux || nogpu || !(amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Devices returns an error: this build has no GPU support.
func Devices() ([]driver.Info, error) {
	return nil, fmt.Errorf("%w: this program was built without GPU support (%s/%s)", errNone,
		runtime.GOOS, runtime.GOARCH)
}

// OpenContext returns the error of Devices.
func OpenContext(int) (driver.Device, error) { return Open(0) }

// Open returns the error of Devices.
func Open(int) (driver.Device, error) {
	_, err := Devices()
	return nil, err
}
