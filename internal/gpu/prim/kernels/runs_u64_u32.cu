#include "runs.cuh"

REDUCE(u64, u32, 128, 12)
