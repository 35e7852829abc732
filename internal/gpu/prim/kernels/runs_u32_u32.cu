#include "runs.cuh"

REDUCE(u32, u32, 128, 16)
