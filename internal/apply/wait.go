package apply

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// looks is how many times a waiter for a stripe loads its state before it yields: a writer
	// takes less than a microsecond, if it has a core.
	looks = 32
	// askEvery is the number of yields after which the waiter checks whether the holder of the
	// stripe has failed.
	askEvery = 16
	// tries is how many times a reader backs off for a writer. Then the reader takes the stripe
	// as a writer: writers in close succession can starve a reader, but not another writer.
	tries = 3
)

// lock makes the caller the writer of a stripe.
func (r *Region) lock(stripe int) {
	s := r.Stripes
	if !s.Claim(stripe, r.Me) {
		for turn := 0; !s.Claim(stripe, r.Me); turn++ {
			r.await(turn, s.Holder(stripe))
		}
	}
	if process := s.Occupant(stripe, 0); process >= 0 {
		for turn := 0; process >= 0; turn++ {
			r.await(turn, process)
			process = s.Occupant(stripe, process)
		}
	}
}

func (r *Region) unlock(stripe int) { r.Stripes.Release(stripe) }

// enter makes the caller a reader of a stripe, or its only writer.
func (r *Region) enter(stripe int) (only bool) {
	return !r.Stripes.Enter(stripe, r.Me) && r.enterLate(stripe)
}

func (r *Region) enterLate(stripe int) (only bool) {
	s := r.Stripes
	for range tries {
		for turn := 0; ; turn++ {
			process := s.Holder(stripe)
			if process < 0 {
				break
			}
			r.await(turn, process)
		}
		if s.Enter(stripe, r.Me) {
			return false
		}
	}
	r.lock(stripe)
	return true
}

func (r *Region) leave(stripe int, only bool) {
	if only {
		r.Stripes.Release(stripe)
	} else {
		r.Stripes.Leave(stripe, r.Me)
	}
}

// await waits until a process may have left a stripe; turn counts the calls. It removes the
// claim of a failed process.
func (r *Region) await(turn, process int) {
	if turn < looks {
		shmfmt.Pause()
		return
	}
	if turn%askEvery == 0 && r.Dead != nil && uint(process) < uint(r.Stripes.Local()) && r.Dead(process) {
		r.Stripes.Reap(process)
		return
	}
	if r.Yield == nil || process == r.Me {
		runtime.Gosched()
	} else {
		r.Yield()
	}
}
