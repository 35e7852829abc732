#include "runs.cuh"

RUNS(u32, 128, 48)
