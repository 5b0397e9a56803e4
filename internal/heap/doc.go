// Package heap allocates the memory of windows and of AllocMem: zeroed blocks, aligned at least
// to cache lines, whose pages are committed when the block is allocated. A block for which there
// is not enough memory is refused with the numbers, so that no access gets a SIGBUS later.
//
// The memory of a heap is mapped by the processes of a node (Shared, which package node makes), or its
// blocks are memory of this process alone: Private, which package store makes where there is no node, and
// Loose on the Go heap, where the race detector sees every access, which package inproc makes. The records of the heap are on the Go heap of the owner: a peer that writes where it
// must not can corrupt the content of blocks and nothing else.
//
// Before a large block is committed, the free memory of the machine and of the process's control groups is read
// (Budget), which takes some 200 us; a check permits some later small blocks, too.
//
// The trap: like memory of C, and unlike that of Go, a block must not be used after it is freed,
// even through a slice.
package heap
