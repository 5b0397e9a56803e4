package coll

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
)

// Clash is the error of a collective call on a communicator on which another goroutine of the
// process is in a collective call. MPI-5, 6.14, requires the program to avoid this, since the
// two calls have no order that all members have in common.
//
// The refused call has no effect on the other call or on the communicator. Other members that
// have made the same call wait in it for this process.
type Clash struct{ Call, Other call.Number }

// Error implements error, without the name of the communicator.
func (c *Clash) Error() string { return c.On("one communicator") }

// On returns the text of the error with the name of the communicator, or window.
func (c *Clash) On(name string) string {
	return fmt.Sprintf("two goroutines are in collectives on %s at once (%v and %v); give each a Dup", name, c.Call, c.Other)
}

// occupancy holds the collective calls of this process in progress on a communicator: one that
// blocks, and one that starts or prepares a request. There may be one of each, and any number of
// requests that have been started.
//
// Each has a word, which is idle or has the number of the call in its lower callBits. A call enters by a
// compare-and-swap from idle, and leaves by a store. There are two words, since a call that
// starts a request ends at once, however long the request takes. Rejected: a mutex. The calls
// would take turns in an order that differs from member to member.
//
// The word of blocking calls is in the slot's record if the communicator has a slot, since C
// code enters and leaves there in the same way. When the communicator is freed, another
// communicator may get the record, or another rank of the same one in this process. Therefore idle
// is another number for each communicator and rank: a call that comes too late finds a different
// number, and changes nothing.
type occupancy struct {
	blocking *atomic.Uint64
	idle     uint64 // the idle value of blocking
	starting atomic.Uint64
	alone    atomic.Uint64 // the word of blocking calls if there is no slot
}

// callBits is the number of bits of a word that hold the number of the call.
const callBits = 10

var _ [1<<callBits - call.End]struct{} // all calls fit into callBits

// enter begins a blocking call, and fails if another one is in progress.
func (o *occupancy) enter(by call.Number) error {
	if o.blocking.CompareAndSwap(o.idle, o.idle|uint64(by)) { // pairs with the store in leave, here and in C
		return nil
	}
	return occupy(o.blocking, o.idle, by)
}

// leave ends the blocking call.
func (o *occupancy) leave() {
	o.blocking.Store(o.idle)
	runtime.KeepAlive(o) // the state of the communicator may own the record of the word
}

// occupy enters a word whose first compare-and-swap may have failed. It fails if another call is
// in progress.
func occupy(word *atomic.Uint64, idle uint64, by call.Number) error {
	for !word.CompareAndSwap(idle, idle|uint64(by)) {
		if now := word.Load(); now != idle {
			return &Clash{by, at(now, idle)}
		}
	}
	return nil
}

// at returns the call of a word that is not idle. If the word has the number of another
// communicator, the communicator of the caller has been freed.
func at(word, idle uint64) call.Number {
	if word>>callBits != idle>>callBits {
		return call.CommFree
	}
	return call.Number(word - idle)
}

// occupied carries out a blocking call on c.
func occupied(c *comm.Comm, by call.Number, do func() error) error {
	o := &stateOf(c).busy
	if err := o.enter(by); err != nil {
		return err
	}
	defer o.leave()
	return do()
}

// Enter begins a call that starts or prepares a collective on c, and fails if another one is in
// progress. It is called without the lock, before the engine takes the call: calls that hold the
// lock exclude each other, so that none would see the other one. Leave ends the call.
func (e *Engine) Enter(c *comm.Comm, by call.Number) error {
	return occupy(&stateOf(c).busy.starting, 0, by) // pairs with the store in Leave
}

// Leave ends a call that Enter has begun.
func (e *Engine) Leave(c *comm.Comm) { stateOf(c).busy.starting.Store(0) }

// Idle fails, as the call would, if a blocking call is in progress on c. It changes nothing, and
// is for calls that do something before they enter.
func (e *Engine) Idle(c *comm.Comm, by call.Number) error {
	o := &stateOf(c).busy
	if now := o.blocking.Load(); now != o.idle {
		return &Clash{by, at(now, o.idle)}
	}
	return nil
}

// Claim begins a blocking call on c that no other call may follow, and fails if a call is in
// progress. Unclaim takes it back.
func (e *Engine) Claim(c *comm.Comm, by call.Number) error { return stateOf(c).busy.enter(by) }

// Unclaim undoes Claim.
func (e *Engine) Unclaim(c *comm.Comm) { stateOf(c).busy.leave() }
