// Command heat lets the brightness of a picture spread like heat in a plate: it
// cuts the picture into blocks, one a rank, and in every step each rank swaps
// the edges of its block with its neighbours. It is the example of a whole application; read block.go first.
//
//	go run ./cmd/halo run -n 4 ./examples/heat [-steps N] [-tol X] [-halo HOW] [-checkpoint FILE] [-o heat.png] [picture.png]
//	go run ./cmd/halo run -n 4 ./examples/heat -restart FILE [...]
//
// The edges travel as messages, by a neighbourhood collective (-halo neighbor and
// neighbor-persistent), or are put into a window of the neighbour: rma-fence, rma-pscw and
// rma-lock are the three ways of the standard to synchronise that, notify and sync-counters
// two of Halo's. With -checkpoint all ranks write the state to a file every now and then, from which
// any number of ranks continues (-restart) when the program has been killed.
//
// Any number of ranks computes the same bits; the checksum at the end shows it.
//
// The trap: that holds only because a cell is computed by one expression however the picture is cut. On
// some machines a compiler fuses a multiplication and an addition; the conversion in block.step prevents that.
package main
