#include "runs.cuh"

RUNS(u64, 192, 20)
