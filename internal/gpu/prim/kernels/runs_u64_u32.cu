#include "runs.cuh"

REDUCE(u64, u32, 192, 12)
