package search

// The numbers of this package that were chosen by measuring. Change one and results stay the same;
// only times differ.

import "time"

// MapAll lets the cores answer the first autoProbe requests of a batch, and estimates from these
// how long the others would take.
const autoProbe = 1000

// gpuOpening is the time to open a device: 0.4 s were measured, and 2 s more the first time
// ever.
const gpuOpening = time.Second

// gpuPostings is how many postings a second are copied to a device and prepared there. An H200 took
// 1 to 5 s for indexes of 28 million postings and of 50 million documents.
const gpuPostings = 20e6
