#include "scan.cuh"

SCAN(u64, u64, u64, 128, 40, 5)
