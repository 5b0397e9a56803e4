// Package shm carries frames between the processes of a node, through rings in the memory that
// they share (package node). Package proc opens it, and p2p takes short messages from its rings on the fast path of
// a blocking receive (peek.go). Where that memory is on the Go heap the fabric is called inproc. Processes of
// other jobs on the same node have rings in memory of their own (foreign.go, package pair).
//
// A frame of up to 24 bytes costs one cache line, written by the sender and read by
// the receiver, and one load to see whether the receiver sleeps. Longer payloads are
// copied in and out once. Half a round trip of a message of 8 bytes takes 0.29 us (docs/performance.md).
//
// The trap: a frame that Post has published is visible to a peer that polls, but a peer that sleeps is woken only by
// Settle. A caller that gives up the lock in between leaves its peer asleep. Send does both.
package shm
