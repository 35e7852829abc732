//go:build !linux || nogpu || !(amd64 || arm64)

package energy

// openGPUs finds none: this build has no GPU support.
func openGPUs() ([]gpuMeter, string) {
	return nil, "not measured: this program was built without GPU support"
}
