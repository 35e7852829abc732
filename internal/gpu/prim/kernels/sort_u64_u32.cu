#include "onesweep.cuh"

PAIRS(u64, u32, 256, 14, 1)
