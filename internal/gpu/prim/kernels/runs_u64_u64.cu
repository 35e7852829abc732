#include "runs.cuh"

REDUCE(u64, u64, 192, 12)
