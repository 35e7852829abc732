// Package emu is a GPU emulator in Go. It runs the same PTX that is shipped to real devices, so
// that tests on any machine run the GPU engines. It is strict where hardware is lenient. A launch
// fails, naming kernel, block, thread and PTX line, when it
//
//   - reads or writes outside an allocation, after it was freed, or misaligned;
//   - reads shared memory that was not written;
//   - lets two threads of a block access the same shared memory, one of them
//     writing, without a barrier in between (writing the value that it holds
//     already is allowed);
//   - reaches a barrier with part of a warp, or after threads have returned;
//   - names lanes in the mask of a warp-wide instruction that do not execute it;
//   - uses an instruction that the interpreter does not know.
//
// # How it runs
//
// A kernel is decoded once. Every operand, including constants and special registers, becomes a row
// of 32 lanes. So an instruction is one call of a small function that loops over the active lanes
// of a warp. Branches diverge and reconverge at the immediate post-dominator. Warps of a block take
// turns on one goroutine. Workers take blocks in increasing order, and a worker whose blocks all
// spin takes another. So a block may wait for any block that started before it (decoupled
// look-back), and even for later ones (a barrier across the grid).
//
// Streams are as lazy as the contract allows: work runs only when somebody waits for it. So a test
// that reads the result of a copy too early fails.
//
// New memory is filled with a pattern, not with zeroes.
package emu
