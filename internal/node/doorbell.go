package node

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Doorbell is what wakes a goroutine of this process that sleeps until a peer rings.
type Doorbell struct {
	backend  Backend
	me       int // own local index
	door     *shmfmt.Door
	seenBell atomic.Uint32 // bell when Sleep last returned; stored by Sleep, loaded by Arm
	closed   atomic.Bool
}

// Arm makes Sleep return once a peer rings. Peers may have stored something before without
// ringing, so the caller looks once more between Arm and Sleep.
func (d *Doorbell) Arm() {
	d.door.Armed.Swap(1) // full fence, also with the race detector (docs/testing.md); pairs with the load in Ring
	if d.door.Bell.Load() != d.seenBell.Load() {
		// RingUnarmed incremented the bell while this process was not armed, and so woke
		// nobody: a goroutine may sleep on the bell already.
		d.wake()
	}
}

// Disarm undoes Arm.
func (d *Doorbell) Disarm() {
	if d.door.Armed.Load() != 0 {
		d.door.Armed.Store(0)
	}
}

// Sleep blocks until Wake or, if armed, until a peer rings. It sleeps only if the bell has not
// changed since Sleep last returned, so that it does not miss a ring between two Sleeps. One
// goroutine at a time calls it, without the engine's lock.
func (d *Doorbell) Sleep() {
	if !d.closed.Load() {
		d.backend.Sleep(&d.door.Bell, d.seenBell.Load())
	}
	d.seenBell.Store(d.door.Bell.Load())
}

// Wake makes Sleep return, now or at its next call. Callable from any goroutine.
func (d *Doorbell) Wake() {
	d.door.Bell.Add(1)
	d.wake()
}

// wake wakes the goroutine that sleeps on the bell, which has been incremented. It fails only
// after Release, when nobody sleeps any more.
func (d *Doorbell) wake() { _ = d.backend.Wake(d.me, &d.door.Bell) }

// Ring wakes local process i if it sleeps or is about to. Callable from any goroutine.
func (n *Node) Ring(i int) {
	d := n.backend.Control().Door(i)
	if d.Armed.Load() != 0 && d.Armed.Swap(0) != 0 { // pairs with the store in Arm
		d.Bell.Add(1)
		n.wakePeer(i, d)
	}
}

// RingUnarmed makes the Sleep of local process i return that follows its next Arm, or that is in
// progress. It increments the bell even if the process is not armed: the process may have seen
// already that it must sleep, such as by a Send that was refused, and may not have called Arm yet.
// If a Sleep is in progress already, Arm ends it. The process that clears the armed flag increments
// the bell once more: the sleeper may have seen the first increment and be asleep again.
func (n *Node) RingUnarmed(i int) {
	d := n.backend.Control().Door(i)
	d.Bell.Add(1)
	if d.Armed.Swap(0) != 0 { // pairs with the store in Arm
		d.Bell.Add(1)
		n.wakePeer(i, d)
	}
}

// wakePeer wakes local process i, whose bell has just been incremented. A peer that cannot be
// woken is lost.
func (n *Node) wakePeer(i int, d *shmfmt.Door) {
	if err := n.backend.Wake(i, &d.Bell); err != nil && i != n.me {
		n.Lose(n.members[i], fmt.Errorf("%s: process %d sleeps and cannot be woken: %w", n.name, n.members[i], err))
	}
}

// Sleeps reports that nobody at a peer with an Offer polls, so that no goroutine would take
// an offer soon. False does not prove that a goroutine polls.
func (n *Node) Sleeps(peer int) bool { return n.peers[n.local[peer]].door.Armed.Load() != 0 } // pairs with the stores in Arm and Disarm

// WakeWaiter makes a goroutine of a peer with an Offer poll that waits and sleeps, and reports
// whether there was one. It costs a system call.
func (n *Node) WakeWaiter(peer int) bool {
	p := n.known(peer)
	if p.seg == nil || !p.seg.RequestPoll() {
		return false
	}
	n.Ring(p.local)
	return true
}

// SetWaits tells peers how many goroutines of this process wait and sleep.
func (n *Node) SetWaits(waits int) { n.seg.SetWaits(waits) }

// WaiterWanted reports whether a peer has called WakeWaiter, once for each call.
func (n *Node) WaiterWanted() bool { return n.seg.PollRequested() }
