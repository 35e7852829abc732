#include "runs.cuh"

REDUCE(u32, u64, 192, 12)
