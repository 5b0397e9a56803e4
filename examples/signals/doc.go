// Command signals streams tiles through a pipeline of ranks, in three ways: by puts that
// notify, by messages, and by put, flush and an empty message. Read it for notified access, an
// extension (docs/extensions.md), beside what the standard has for the same: notify.go, messages.go, flush.go.
//
//	go run ./cmd/halo run -n 4 ./examples/signals [-tiles N] [-bytes N] [-depth N] [-rounds N]
//
// Rank 0 makes the tiles, each rank adds something to every number of a tile and passes it
// on, the last one checks all of it. The throughput of each way is that of the best of some
// rounds.
//
// The trap: notifications have no order, so that of a later tile may arrive first. Each slot therefore
// has a counter of its own at either end.
package main
