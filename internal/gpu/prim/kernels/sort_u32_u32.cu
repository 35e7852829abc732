#include "onesweep.cuh"

PAIRS(u32, u32, 256, 16, 3)
