// Counting pairs of words in windows of any size.
#include "pairs.cuh"

PAIRS(far_counts, kCounts, true)
PAIRS(far_units, kUnits, true)
PAIRS(far_wide, kWide, true)
