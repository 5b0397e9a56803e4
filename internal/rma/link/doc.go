// Package link sends one-sided operations to targets by frames: the side of the origin. Package rma makes the operations, and
// hands frames of answers to the Link of its process; a target's side of the same frames is package serve.
//
//   - A Channel is a queue of operations on one Target, which are numbered. frames.go cuts the first one into frames.
//   - A bundle is a coalesced frame: short operations that wait for the next flush or poll.
//   - A mark is a moment in a channel. A flush asks the target for an answer up to its mark, and waits for that and for the
//     operations before it (mark.go); a Flushing is a flush with a request.
//   - An Operation is complete when its frames are sent and its answers have come (answer.go).
//   - An epoch of one operation is one frame, and mostly one answer (epoch.go).
//
// A Link knows of its owner what Host says: which Target a frame of an answer means, and who awaits an epoch. Windows, views
// and locks are none of its business: a Target belongs to a window by number, an operation brings Traits of its view.
//
// The lock of the process (proc.Proc) guards everything and is held in all calls. The trap: calls that wait (Settle, Unlock,
// Complete, the Awaits) release it meanwhile, so that a caller looks again at what it knew before.
//
// A put of 8 bytes and its flush between two ranks that are goroutines take 50 us through sockets on 2 cores (2026-11-30,
// BenchmarkFrames), most of which is the sleep and wake-up of the two. Nothing is allocated once the pools are full.
package link
