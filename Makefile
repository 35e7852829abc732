# Rebuilds the PTX of every kernels/*.cu whose sources changed. Fetches the
# pinned compiler (NVRTC 11.8, 23 MB) on first use; no CUDA toolkit needed.
.PHONY: kernels
kernels:
	go run ./internal/gpu/cmd/kernels
