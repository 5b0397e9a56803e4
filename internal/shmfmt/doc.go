// Package shmfmt defines the layout of the memory that the processes of a node share: one format with a
// version, for shared memory and, between ranks that are goroutines, for the Go heap. Package node maps it, boot/segment
// makes it, and coll, part, rma, p2p and fabric/shm work on its records; abi/generate writes those that C uses.
//
//	control segment    one per node, made by the launcher
//	  0      door of local process 0        (DoorSize bytes)
//	  ...    door of local process n-1
//	  ...    slots of the collectives, SlotCount of SlotSize(n) bytes
//	  ...    their bulk memory, SlotCount of BulkSize(n) bytes, sparse
//	process segment    one per process, sparse
//	  0      header: magic with the version, owner, number of local processes, sleeping calls, poll request
//	  64     bitmap of the local processes that have sent to the owner
//	  ...    bitmap of the local processes that have made offers
//	  ...    ring that local process i fills and the owner empties (RingStride bytes each)
//	  ...    Offer of local process i (OfferSize bytes each)
//	  ...    heap: blocks that the owner allocates, from HeapStart(n) to the end of the file
//
// The heap contains no description of its blocks: only the owner has one, and peers learn the offset
// of a block from it. They map the heap separately, and only when they use it. Memory in use is the control
// segment, one page of each process for header and bitmaps (two on nodes with more than half of MaxLocal processes),
// RingStride bytes for each peer that has sent, OfferSize for each that has made an offer, and the pages of live blocks.
//
// The trap: whoever has a segment may write anything into it. A value that is read there is checked before it is an
// index or a length, and is not read again. A change of a layout increments Version and changes the golden files in
// testdata; for a record that C uses, run go run ./abi/generate.
package shmfmt
