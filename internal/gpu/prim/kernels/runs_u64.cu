#include "runs.cuh"

RUNS(u64, 128, 16)
