package coll

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/comm"
)

// Call is a call of a program that is collective over a communicator.
type Call uint32

// callsOfForm is how many calls there is room for in a form: see CallOf.
const callsOfForm = 32

// The calls beside those of CallOf. 0 is none: the state of a communicator on which no call is at
// work.
const (
	CallDup Call = Call(Forms)*callsOfForm + 1 + iota
	CallIdup
	CallSplit
	CallCreate
	CallIntercommCreate
	CallMerge
	CallFree
	CallWinFree
	CallFinalize
)

var _ [callsOfForm - 1 - kinds]struct{} // the kinds fit

// CallOf is the call of a kind in a form. Code in C has the numbers of the blocking ones.
func CallOf(k Kind, f Form) Call { return 1 + Call(k) + Call(f)*callsOfForm }

// String is the name of the call in package mpi.
func (c Call) String() string {
	switch c {
	case CallDup:
		return "Dup"
	case CallIdup:
		return "Idup"
	case CallSplit:
		return "Split"
	case CallCreate:
		return "Create"
	case CallIntercommCreate:
		return "IntercommCreate"
	case CallMerge:
		return "Merge"
	case CallFree, CallWinFree:
		return "Free"
	case CallFinalize:
		return "Finalize"
	}
	name := Kind((c - 1) % callsOfForm).String()
	switch Form((c - 1) / callsOfForm) {
	case Nonblocking:
		return "I" + string(name[0]|0x20) + name[1:]
	case Persistent:
		return name + "Init"
	}
	return name
}

// Clash is the error of a collective call on a communicator on which another goroutine of
// the process is in one. MPI-5, 6.14, leaves it to the program that this does not happen:
// the order of the two calls, which all members must have in common, is nobody's.
//
// The call that is refused has done nothing: neither the other call nor the communicator
// notices it. Other members that have made the same call wait for this process in it.
type Clash struct{ Call, Other Call }

// Error implements error, without the name of the communicator.
func (c *Clash) Error() string { return c.On("one communicator") }

// On is the text of the error with the name of the communicator, or window.
func (c *Clash) On(name string) string {
	return fmt.Sprintf("two goroutines are in collectives on %s at once (%v and %v); give each a Dup", name, c.Call, c.Other)
}

// occupancy says which collective calls are at work on a communicator in this process: one
// that blocks, and one that starts or prepares a request. There may be one of each, and any
// number of requests that have been started.
//
// A word is idle or, in its lower callBits, has the Call. A call enters by a compare-and-swap from
// idle, and leaves by a store: two words, since a start is over at once and says nothing about
// how long its request takes. Rejected: a mutex, with which the calls would take turns in an order
// that differs from member to member.
//
// The word of calls that block is in the slot's record if there is a slot, since code in C enters
// and leaves there in the same way. When the communicator is freed the record may become that of
// another one. So idle is a number that each communicator has for itself: a call that comes too
// late finds another one, and changes nothing.
type occupancy struct {
	blocking *atomic.Uint64
	idle     uint64 // of blocking
	starting atomic.Uint64
	alone    atomic.Uint64 // the word of calls that block where there is no slot
}

// callBits is how many bits of a word are the Call.
const callBits = 8

var _ [1<<callBits - 1 - CallFinalize]struct{} // the calls fit

// enter begins a blocking call, and fails if another one is at work.
func (o *occupancy) enter(call Call) error {
	if o.blocking.CompareAndSwap(o.idle, o.idle|uint64(call)) { // pairs with the store in leave, here and in C
		return nil
	}
	return occupy(o.blocking, o.idle, call)
}

// leave ends the blocking call.
func (o *occupancy) leave() {
	o.blocking.Store(o.idle)
	runtime.KeepAlive(o) // the word may be in a record that goes with the state of a communicator
}

// occupy enters a word that was not idle a moment ago, and fails if it still is not.
func occupy(word *atomic.Uint64, idle uint64, call Call) error {
	for !word.CompareAndSwap(idle, idle|uint64(call)) {
		if now := word.Load(); now != idle {
			return &Clash{call, at(now, idle)}
		}
	}
	return nil
}

// at is the call at work by a word that is not idle. Where it is another communicator's the own one
// has been freed.
func at(word, idle uint64) Call {
	if word>>callBits != idle>>callBits {
		return CallFree
	}
	return Call(word - idle)
}

// occupied carries out a blocking call on c.
func occupied(c *comm.Comm, call Call, do func() error) error {
	o := &stateOf(c).busy
	if err := o.enter(call); err != nil {
		return err
	}
	defer o.leave()
	return do()
}

// Enter begins a call that starts or prepares a collective on c, and fails if another one is
// at work. It is called without the lock, before the engine is: the calls themselves have the
// lock, so that one could not see the other. Leave ends the call.
func (e *Engine) Enter(c *comm.Comm, call Call) error {
	return occupy(&stateOf(c).busy.starting, 0, call) // pairs with the store in Leave
}

// Leave ends a call that Enter has begun.
func (e *Engine) Leave(c *comm.Comm) { stateOf(c).busy.starting.Store(0) }

// Idle fails, as the call would, if a blocking call is at work on c. Nothing is changed: for
// calls that do something before they enter.
func (e *Engine) Idle(c *comm.Comm, call Call) error {
	o := &stateOf(c).busy
	if now := o.blocking.Load(); now != o.idle {
		return &Clash{call, at(now, o.idle)}
	}
	return nil
}

// Claim begins a blocking call on c that no other call may follow, and fails if one is at
// work. Unclaim takes it back.
func (e *Engine) Claim(c *comm.Comm, call Call) error { return stateOf(c).busy.enter(call) }

// Unclaim undoes Claim.
func (e *Engine) Unclaim(c *comm.Comm) { stateOf(c).busy.leave() }
