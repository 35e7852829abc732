#include "runs.cuh"

REDUCE(u32, u32, 192, 16)
