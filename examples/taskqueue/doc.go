// Command taskqueue integrates a function with a sharp peak: several goroutines of each rank
// take intervals from one queue, and push halves of those that are too coarse. Read it for ordered
// views, an extension (docs/extensions.md), in a queue without locks (queue.go).
//
//	go run ./cmd/halo run -n 4 ./examples/taskqueue [-workers N] [-tolerance X] [-seconds N]
//
// Each goroutine has a view of the window of its own, a duplicate with two hints: with
// WinOrder its operations happen in their order, without waiting between them; with
// ScopeThread its flushes wait for nobody else's operations. It is compared with
// the same program on one view, and flushes. Area and number of intervals must be those of
// one rank, to the last bit. With -seconds it is done again and again for so long.
//
// The trap: a slot is given away by its turn word, so the task must be in the slot before the turn changes. Without
// WinOrder two operations on different words happen in any order, and a flush must separate them.
package main
