#include "runs.cuh"

REDUCE(u32, u64, 128, 12)
