// Package serve carries out the one-sided operations that other processes send by frames to the memory of this one: the side
// of the target, in which its program takes no part. Package rma receives the frames, looks up the window and checks that the
// sender is a member; package link is the side of the origin.
//
//   - A Server has what peers have asked for, at most link.RequestsMax answers for each of them: a longer get is answered in
//     pieces, in turns (get.go).
//   - A Window is the memory that operations reach, and the faults of which their senders have not been told (refusal.go).
//   - What ends an epoch waits behind gets that are being answered (ending.go).
//   - A long operation on a dynamic window is announced, and refused as a whole (span.go).
//
// A Server knows of its owner what Host says. Locks, posts and counters belong to that: the Server says when an epoch has
// ended, and which counter goes up.
//
// The trap: nothing in a frame is trusted. Window.Place, and what package operation decodes, check all that a peer may have
// chosen before any memory is accessed. An error that a correct process can make is answered by a fault; a peer that sends
// what no correct process sends is taken down (link.Link.Refuse).
//
// A put costs a look-up of its memory and the copy; an answer is sent from memory of the window, and copied only if the fabric
// has no room. Nothing is allocated once the pools are full.
package serve
