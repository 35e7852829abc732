package search

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

import "time"

// MapAll lets the cores answer the first autoProbe requests of a batch, and estimates from these
// how long the others would take.
const autoProbe = 1000

// gpuOpening is the time to open a device: 0.2 to 0.35 s were measured on an H200, and 4 to 6 s
// more the first time ever, when the driver compiles the kernels.
const gpuOpening = 500 * time.Millisecond

// leastOnGPU is the number of bytes of codes from which [engine.Auto] searches vectors on a GPU
// that has the index. One query over 35 MB takes 16 cores as long as the steps on an H200 take
// without the pass itself, 0.3 ms; 1,000 queries over 10 MB as long as those of a batch, 3 ms.
const leastOnGPU = 16 << 20

// gpuVectors is the number of bytes of vectors and their codes that are loaded onto a device in a
// second: 14 GB were measured on an H200.
const gpuVectors = 10e9

// gpuPostings is the number of postings per second and core that are loaded onto a device: 16 cores
// beside an H200 took 0.5 to 0.65 s for 420 million.
const gpuPostings = 30e6

// gpuWeighted is the same for weighted tokens, which are copied as they are: 0.13 to 0.15 s were
// measured for 118 million, and 0.53 to 0.60 s for 1.05 billion.
const gpuWeighted = 55e6
