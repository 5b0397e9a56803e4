package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// phaseRun is the state of a member that runs a phase.
type phaseRun struct {
	*live
	phase  *phase
	x      *execution
	open   []*issued // operations that are not known to be complete at the origin
	stored bool      // this member has stored since the last synchronisation

	handles [][]byte // of this member's memory, until they are released
}

func (r *phaseRun) run() error {
	if err := r.attach(r.phase.attach); err != nil {
		return err
	}
	if err := r.store(r.phase.stores); err != nil {
		return err
	}
	if r.phase.passive() {
		if err := r.comm.Barrier(); err != nil {
			return err
		}
	}
	if err := r.grantAll(); err != nil {
		return err
	}
	if err := r.epochs(); err != nil {
		return err
	}
	if len(r.open) > 0 {
		return fmt.Errorf("%v is not complete", r.open[0])
	}
	if err := r.closeAll(); err != nil {
		return err
	}
	if r.phase.passive() {
		if err := r.comm.Barrier(); err != nil {
			return err
		}
	}
	if err := r.releaseAll(); err != nil {
		return err
	}
	return r.look()
}

// look copies this member's memory for the oracle.
func (r *phaseRun) look() error {
	locked := r.phase.passive() && r.phase.assert
	if locked {
		if err := r.win.Lock(mpi.LockShared, r.me, 0); err != nil {
			return err
		}
	}
	for s, mem := range r.mine {
		r.x.ends[r.phase][r.me][s] = bytes.Clone(mem)
	}
	if locked {
		return r.win.Unlock(r.me)
	}
	return nil
}

func (r *phaseRun) store(all []*store) error {
	for _, s := range all {
		if s.member != r.me {
			continue
		}
		if r.phase.passive() {
			if err := r.win.Lock(mpi.LockExclusive, r.me, 0); err != nil {
				return err
			}
		}
		copy(r.mine[s.slot][s.off:], s.data)
		r.stored = true
		if r.phase.passive() {
			if err := r.win.Unlock(r.me); err != nil {
				return err
			}
		}
	}
	return nil
}

// epochs runs the rounds of the phase.
func (r *phaseRun) epochs() error {
	r.stored = true // the member has stored, if only before the window was made
	switch r.phase.kind {
	case byFence:
		for i, round := range r.phase.rounds {
			if err := r.fence(i); err != nil {
				return err
			}
			if err := r.steps(round); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
		return r.fence(len(r.phase.rounds))
	case byPost:
		for i, round := range r.phase.rounds {
			if err := r.posted(round); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
		return nil
	case byLockAll:
		if err := r.win.LockAll(r.noCheck()); err != nil {
			return err
		}
		if err := r.steps(r.phase.rounds[0]); err != nil {
			return err
		}
		if err := r.settle(nobody, 0); err != nil {
			return err
		}
		return errors.Join(r.win.UnlockAll(), r.completed(nobody, 0))
	}
	return r.steps(r.phase.rounds[0])
}

// changed reports whether operations of a round may change this member's memory.
func (r *phaseRun) changed(round *round) bool {
	return slices.ContainsFunc(round.steps, func(s *rmaStep) bool { return s.do == doOp && s.op.target == r.me && s.op.changes() })
}

// fence does the fence before round i, or after the last round.
func (r *phaseRun) fence(i int) error {
	assert := mpi.Assert(0)
	if r.phase.assert {
		if i == 0 {
			assert |= mpi.ModeNoPrecede
		}
		if i == len(r.phase.rounds) {
			assert |= mpi.ModeNoSucceed
		}
		if !r.stored {
			assert |= mpi.ModeNoStore
		}
		if i == len(r.phase.rounds) || !r.changed(r.phase.rounds[i]) {
			assert |= mpi.ModeNoPut
		}
	}
	r.stored = false
	return errors.Join(r.win.Fence(assert), r.completed(nobody, 0))
}

// noCheck is the assertion for locks that no conflicting lock is held.
func (r *phaseRun) noCheck() mpi.Assert {
	if r.phase.assert {
		return mpi.ModeNoCheck
	}
	return 0
}

func (r *phaseRun) group(ranks []int) (mpi.Group, error) {
	g, err := r.win.Group()
	if err != nil {
		return g, err
	}
	return g.Incl(ranks)
}

// posted does a round of Post, Start, Complete and Wait.
func (r *phaseRun) posted(round *round) error {
	if err := r.store(round.stores); err != nil {
		return err
	}
	exposes := round.origins[r.me] != nil
	post := func() error {
		g, err := r.group(round.origins[r.me])
		if err != nil {
			return err
		}
		assert := mpi.Assert(0)
		if r.phase.assert && !r.stored {
			assert |= mpi.ModeNoStore
		}
		if r.phase.assert && !r.changed(round) {
			assert |= mpi.ModeNoPut
		}
		r.stored = false
		return r.win.Post(g, assert)
	}
	if exposes && !round.late[r.me] {
		if err := post(); err != nil {
			return err
		}
	}
	var targets []int
	for t, origins := range round.origins {
		if slices.Contains(origins, r.me) {
			targets = append(targets, t)
		}
	}
	starts := len(targets) > 0 || round.polls[r.me]
	if starts {
		g, err := r.group(targets)
		if err != nil {
			return err
		}
		if err := r.win.Start(g, 0); err != nil {
			return err
		}
	}
	if err := r.steps(round); err != nil {
		return err
	}
	if exposes && round.late[r.me] {
		if err := post(); err != nil {
			return err
		}
	}
	if starts {
		if err := errors.Join(r.win.Complete(), r.completed(nobody, 0)); err != nil {
			return err
		}
	}
	if !exposes {
		return nil
	}
	if !round.polls[r.me] {
		return r.win.Wait()
	}
	for {
		if done, err := r.win.Test(); done || err != nil {
			return err
		}
	}
}

// completed marks as complete at the origin the operations to a target that a call on a view covers,
// except those with a request for which the program has not waited. Target nobody means all targets.
func (r *phaseRun) completed(target, view int) error {
	return r.completedIf(func(o *issued) bool {
		return r.phase.covers(view, o.view) && (target == nobody || o.target == target || o.target == nobody)
	})
}

func (r *phaseRun) completedIf(covered func(o *issued) bool) (err error) {
	r.open = slices.DeleteFunc(r.open, func(o *issued) bool {
		if o.pending || !covered(o) {
			return false
		}
		err = errors.Join(err, o.complete())
		return true
	})
	return err
}
