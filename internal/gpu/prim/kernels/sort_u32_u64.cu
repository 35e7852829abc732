#include "onesweep.cuh"

PAIRS(u32, u64, 256, 12, 1)
