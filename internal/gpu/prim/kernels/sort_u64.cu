#include "onesweep.cuh"

KEYS(u64, 256, 16)
