//go:build race

package sys

import "sync/atomic"

// wires tells the race detector what it cannot see: that what was done before bytes were
// sent comes before what is done once they were received. Ranks that are goroutines of one
// process meet over sockets, too. As in package syscall all sockets are one: a race between
// those who have exchanged anything later may go unseen, and no order is taken for a race.
var wires atomic.Uint64

// sent comes before bytes are handed to the kernel; it pairs with received.
func sent() { wires.Add(1) }

// received comes when bytes are there; it pairs with sent.
func received() { wires.Load() }
