// Command worksteal counts the ways to place queens on a board so that none attacks
// another. Ranks without work steal it from others by atomic operations on a window; the victim
// takes no part in it. Read it for an algorithm on shared memory that becomes one on windows (deque.go).
//
//	go run ./cmd/halo run -n 4 ./examples/worksteal [-queens N] [-deep N] [-slots N] [-seconds N]
//
// Rank 0 begins with the empty board. The tree below is irregular: the work of each rank cannot be
// predicted. The count is compared with that of a search on one rank, and so is
// the number of boards that were visited. With -seconds the search is done again and
// again for so long.
//
// The trap: the deque of Chase and Lev relies on the order of accesses to different words, which operations on a
// window do not have. Each is flushed before the next, and slots are read by atomic operations, too.
package main
