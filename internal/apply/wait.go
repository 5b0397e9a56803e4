package apply

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// looks is how often who waits for a stripe looks before yielding: a writer is
	// done after less than a microsecond, if it has a core.
	looks = 32
	// askEvery is how often it yields before it asks whether whom it waits for is dead.
	askEvery = 16
	// tries is how often a reader steps back before a writer. Then it asks for the
	// stripe as a writer itself: writers that follow each other closely leave no
	// moment to a reader, but have no better chance than another writer.
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

// await passes the time until a process may have left a stripe; turn counts the calls.
// A dead one it takes out.
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
