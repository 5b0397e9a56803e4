//go:build race

package sys

import "sync/atomic"

// wires tells the race detector what it cannot see: what happens before bytes are sent comes before what
// happens after they are received. Ranks that are goroutines of one process use sockets too. As in package
// syscall all sockets are one for the detector: it may miss a race between goroutines that have exchanged
// anything, and it reports no false ones.
var wires atomic.Uint64

// sent is called before bytes are passed to the kernel. It pairs with received.
func sent() { wires.Add(1) }

// received is called after bytes were received. It pairs with sent.
func received() { wires.Load() }
