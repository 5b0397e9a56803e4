// Command globalarray multiplies matrices that are spread over the memory of all ranks, by
// one-sided communication: each rank takes the next pair of tiles that nobody has taken,
// gets them, and accumulates their product where it belongs. Read it for datatypes on both sides of a
// one-sided operation (array.each), and for a counter that deals tasks.
//
//	go run ./cmd/halo run -n 4 ./examples/globalarray [-n N] [-tile N] [-seconds N]
//
// The product is compared with that of one rank. So is a matrix whose overlapping patches are
// multiplied, replaced and added to, in an order that matters. With -seconds the ranks repeat this
// for so long, with matrices of random sizes.
//
// The trap: put and get are copies, which nothing orders. Between two syncs a patch that one rank puts must
// not overlap what others put or get. Accumulates may overlap: they are atomic for each number.
package main
