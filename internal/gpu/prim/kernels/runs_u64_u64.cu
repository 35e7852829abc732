#include "runs.cuh"

REDUCE(u64, u64, 128, 12)
