package search

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

import "time"

// MapAll lets the cores answer the first autoProbe requests of a batch, and estimates from these
// how long the others would take.
const autoProbe = 1000

// gpuOpening is the time to open a device: 0.4 s were measured, and 2 s more the first time
// ever.
const gpuOpening = time.Second

// gpuPostings is the number of postings per second that are loaded onto a device. An H200 took
// 1 to 5 s for indexes of 28 million postings and of 50 million documents.
const gpuPostings = 20e6
