#include "scan.cuh"

SCAN(u32_u64, u32, u64, 128, 24, 7)
