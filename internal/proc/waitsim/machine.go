package waitsim

import (
	"math"
	"time"
)

// never is a time that does not come, and forever a number that is not reached.
const (
	never   = time.Duration(math.MaxInt64 / 4)
	forever = 1 << 40
)

// Machine has the times of a machine.
type Machine struct {
	// Slice is what the scheduler lets a thread use before it picks again, and Tick is how often it looks.
	Slice, Tick time.Duration

	Poll    time.Duration // processor time of a poll
	Yield   time.Duration // processor time of sched_yield on a core that nobody else wants, and of the poll after it
	Send    time.Duration // processor time of the messages of one step
	Message time.Duration // until another core sees a message
	Switch  time.Duration // processor time to give a core from one thread to another

	Block    time.Duration // processor time to fall asleep
	WakeCall time.Duration // processor time to wake a thread
	WakeIdle time.Duration // until a thread runs that was woken, on an idle core
	WakeBusy time.Duration // until the scheduler of a busy core knows of it
	Resume   time.Duration // processor time from then until the rank goes on
}

// Measured returns the times that bench/loadedcore has measured on the machine of docs/waiting.md, medians. Slice is what its
// kernel has with 2 cores: a yield forfeits about a third of the time between two ticks. Poll, Send, Message and Switch are estimates.
func Measured() *Machine {
	const us = time.Microsecond
	return &Machine{
		Slice: 1400 * us, Tick: 4000 * us,
		Poll: 12 * time.Nanosecond, Yield: 550 * time.Nanosecond, Send: 1 * us, Message: 200 * time.Nanosecond, Switch: 2 * us,
		Block: 2 * us, WakeCall: 7 * us, WakeIdle: 24 * us, WakeBusy: 13 * us, Resume: 2 * us,
	}
}
