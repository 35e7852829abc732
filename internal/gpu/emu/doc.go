// Package emu is a GPU made of Go: it runs the very PTX that is shipped to real
// devices, so that every test on every machine runs the GPU engines. It is
// strict where hardware is lenient. A launch fails, naming kernel, block,
// thread and PTX line, when it
//
//   - reads or writes outside an allocation, after its end of life, or misaligned;
//   - reads shared memory that nobody wrote;
//   - lets two threads of a block touch the same shared memory, one of them
//     writing, without a barrier in between (writing the value that is there
//     already is allowed);
//   - reaches a barrier with part of a warp, or with threads gone;
//   - names lanes in a warp-wide instruction's mask that are not there;
//   - uses an instruction that is not known here.
//
// # How it runs
//
// A kernel is decoded once: every operand, constants and special registers
// included, becomes a row of 32 lanes, so an instruction is one call of a small
// function that loops over the active lanes of a warp. Branches diverge and meet
// again at the immediate post-dominator. Warps of a block take turns on one
// goroutine; blocks are dealt to the workers in increasing order, and a worker
// whose blocks all spin takes up a further one, so a block may wait for any
// block that was started before it (decoupled look-back) and even for later ones
// (a barrier across the grid).
//
// Streams are as lazy as the contract allows: work runs only when somebody
// waits for it. A copy that is read too early has therefore not happened yet,
// and the test sees it.
//
// Fresh memory is filled with a pattern, not with zeroes.
package emu
