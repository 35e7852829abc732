#include "onesweep.cuh"

PAIRS(u64, u64, 256, 10, 1)
