#include "onesweep.cuh"

KEYS(u32, 512, 16)
