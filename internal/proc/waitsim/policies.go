package waitsim

import "github.com/halo-mpi/halo/internal/proc"

// Named is a policy with its name.
type Named struct {
	Name   string
	Policy proc.Policy
}

// Halo returns the policy of Halo for ranks with a core each.
func Halo() Named { return Named{"Halo", proc.OwnCore()} }

// Rejected returns policies that Halo does not have. The first one yields to nobody and never sleeps, as MPICH does; the second
// one yields while it polls, as Open MPI does; the third one is what Halo did before.
func Rejected() []Named {
	own := proc.OwnCore().Loads
	longer := proc.OwnCore()
	longer.Loads *= 4
	return []Named{
		{"poll for ever", proc.Policy{Loads: forever}},
		{"yield always", proc.Policy{Loads: own, Yields: forever}},
		{"yield 200 times, then sleep", proc.Policy{Loads: own, Yields: 200}},
		{"yield 20 times, then sleep", proc.Policy{Loads: own, Yields: 20}},
		{"sleep at once", proc.Policy{Loads: 0}},
		{"poll 0.05 ms, then sleep", proc.Policy{Loads: own}},
		{"poll 1 ms, then sleep", proc.Policy{Loads: 20 * own}},
		{"Halo, with 0.2 for 0.05 ms", longer},
	}
}
