// Package p2p is the semantics of point-to-point communication (MPI-5 chapter
// 3), written once over the fabric contract. An Engine is that of one process: package world opens it; package mpi
// calls it for messages, and coll, part, rma, file and meet send and wait through it.
//
// A short message travels in one Eager frame and costs eager credit with the peer;
// a synchronous one asks for an Ack. A message that is long, or for which there is
// no credit, is announced by a Ready frame (rendezvous), and its payload stays with
// the sender. When a receive matches, the receiver reads the payload from the
// sender's memory where the fabric can (one copy) and sends Ack; otherwise it sends
// Clear, and the sender answers with Data frames. The credit bounds the payload that
// a receiver buffers for a peer. Envelopes keep flowing, so earlier messages never
// block a receive with a later tag.
//
// Half a round trip of 8 bytes takes 0.29 us through memory and 3.6 us through sockets of one host; a message of 64
// KiB takes 5.1 us through memory (docs/performance.md).
//
// The caller of every function holds the engine's lock, unless the comment says that
// the function takes the lock.
//
// The trap: messages of the node can pass the engine. A blocking receive, and C, take a message from a ring without
// request and table as long as one word has no reason against it (shmfmt.ProcessRecord, Slow). Whatever gives
// the engine more to do for messages must set a bit there first, or a message overtakes another.
package p2p
