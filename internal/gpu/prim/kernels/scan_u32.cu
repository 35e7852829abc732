#include "scan.cuh"

SCAN(u32, u32, u32, 128, 72, 5)
