# `make` alone lists the everyday tasks.
.PHONY: help test quick race kernels bench docs
.DEFAULT_GOAL := help
# Nothing here needs C but the race detector, for which .ci/run sets it again.
export CGO_ENABLED := 0

help: ## list these tasks
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

test: ## everything that must hold before a change lands (.ci/run)
	.ci/run

quick: ## the short tests of every package
	go test -short ./...

race: ## the tests that .ci/race lists, under the race detector (needs a C compiler)
	.ci/run race

kernels: ## rebuild the PTX of kernels/*.cu whose sources changed; fetches the pinned NVRTC 11.8 (23 MB)
	go run ./internal/gpu/cmd/kernels

bench: ## the micro-benchmarks of every package, once each; for options see `go help testflag`
	go test -run '^$$' -bench . -benchtime 1x ./...

docs: ## the documentation of every package, as a web page on localhost; fetches pkgsite the first time
	go doc -http

.PHONY: wheels
wheels: ## the wheels of the Python package for Linux and macOS, in python/dist; none for Windows, as the package needs Unix sockets
	python/wheels

.PHONY: fuzz
fuzz: ## every fuzz target for an hour; failing inputs are kept under testdata/fuzz
	.ci/fuzz 1h

.PHONY: cluster-test
cluster-test: ## jobs on real clusters, compared with one machine: Spark if SPARK_HOME is set, Slurm if it is installed
	bench/cluster/test
