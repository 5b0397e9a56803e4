package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

func init() {
	ctx := context.Background()
	// SYN-35, E0-21: a window takes spawned processes in and loses them, twice.
	spawnRoles["newcomer"] = func(world *mpi.Comm) error {
		return newcomers(world.Parent(), os.Getenv("FIRST") == "1", nil, nil)
	}
	spawnCases["window"] = func(world *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](world, 8)
		if err != nil {
			return err
		}
		for round := range 2 {
			m := role("newcomer", 2)
			m.Env = append(m.Env, fmt.Sprint("FIRST=", round))
			p, _, err := world.Spawn(ctx, 0, m)
			if err != nil {
				return err
			}
			if err := newcomers(p, round == 0, w.Window, world); err != nil {
				return err
			}
			clear(w.Local())
			if err := world.Barrier(); err != nil {
				return err
			}
		}
		return w.Free()
	}
	// X-SES-01: the sets of parents and children are those of a session at both sides.
	spawnRoles["sets"] = func(world *mpi.Comm) error {
		if err := relatives(mpi.PsetParent, mpi.PsetChildren, world.Parent().RemoteSize(), false); err != nil {
			return err
		}
		return without(world.Parent(), mpi.PsetParent)
	}
	spawnCases["sets"] = func(world *mpi.Comm) error {
		p, _, err := world.Spawn(ctx, 0, role("sets", 2))
		if err != nil {
			return err
		}
		if err := relatives(mpi.PsetChildren, mpi.PsetParent, 2, true); err != nil {
			return err
		}
		return without(p, mpi.PsetChildren)
	}
}

// newcomers is what both sides of inter do while a window takes the children in: w is that of the parents, whose world
// is back, and nil at the children. first says that this side has the lower ranks.
func newcomers(inter *mpi.Comm, first bool, w *mpi.Window, back *mpi.Comm) error {
	all, err := inter.Merge(!first)
	if err != nil {
		return err
	}
	me, n, parents := all.Rank(), all.Size(), inter.RemoteSize()
	if w != nil {
		parents = inter.Size()
	}
	peer := 0 // the first parent
	if first != (w != nil) {
		peer = n - parents
	}
	w, err = mpi.WinChangeComm(w, all, peer)
	if err != nil {
		return err
	}
	x := mpi.Win[int64]{Window: w}
	mine, err := w.AllocSyncObjects(1, nil)
	if err != nil {
		return err
	}
	objects := make([]mpi.Sync, n)
	if err := mpi.Allgather(all, mine, objects); err != nil {
		return err
	}
	come := w.SyncObjectInit(mine[0], n)
	if err := errors.Join(come.Start(), w.LockAll(0)); err != nil {
		return err
	}
	for r := range n {
		if r >= peer && r < peer+parents {
			if err := x.Put([]int64{int64(100 + me)}, r, me); err != nil {
				return err
			}
		}
		if err := w.Signal(r, mpi.ModeWinPut, objects[r]); err != nil {
			return err
		}
	}
	if _, err := come.Wait(); err != nil {
		return err
	}
	if back != nil {
		for r, v := range x.Local()[:n] {
			if v != int64(100+r) {
				return fmt.Errorf("%d from rank %d of %d", v, r, n)
			}
		}
	}
	if err := errors.Join(w.UnlockAll(), come.Free(), w.FreeSyncObjects(mine)); err != nil {
		return err
	}
	w, err = mpi.WinChangeComm(w, back, 0)
	if err != nil || (w == nil) != (back == nil) {
		return fmt.Errorf("the window is %v: %v", w, err)
	}
	return errors.Join(all.Disconnect(), inter.Disconnect())
}

// relatives communicates with the processes of a process set of n, in a session, by communicators of groups.
func relatives(name, no string, n int, lower bool) error {
	s, err := mpi.OpenSession(mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	names, err := s.Psets()
	if err != nil || !slices.Contains(names, name) || slices.Contains(names, no) {
		return fmt.Errorf("process sets %q, %v", names, err)
	}
	others, err := s.Group(name)
	if err != nil || others.Size() != n || others.Rank() != mpi.Undefined {
		return fmt.Errorf("the group of %s has %d processes, want %d: %v", name, others.Size(), n, err)
	}
	own, err := s.Group(mpi.PsetWorld)
	if err != nil {
		return err
	}
	inter, err := mpi.IntercommFromGroups(own, 0, others, 0, "inter", mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	got := make([]int64, n)
	if err := mpi.Allgather(inter, []int64{int64(inter.Rank())}, got); err != nil || got[n-1] != int64(n-1) {
		return fmt.Errorf("the others have given %v: %v", got, err)
	}
	low, high := own, others
	if !lower {
		low, high = others, own
	}
	union, err := low.Union(high)
	if err != nil {
		return err
	}
	all, err := mpi.CommFromGroup(union, "all", mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	sum := []int64{int64(all.Rank())}
	if err := mpi.Allreduce(all, sum, sum, mpi.Sum); err != nil || sum[0] != int64(all.Size()*(all.Size()-1)/2) {
		return fmt.Errorf("the sum of the ranks of %d is %d: %v", all.Size(), sum[0], err)
	}
	return errors.Join(inter.Free(), all.Disconnect(), s.Finalize())
}

// without disconnects c and finds that a process set has ended with it.
func without(c *mpi.Comm, name string) error {
	if err := c.Disconnect(); err != nil {
		return err
	}
	s, err := mpi.OpenSession(mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	if _, err := s.Group(name); !errors.Is(err, mpi.ErrArg) {
		return fmt.Errorf("the set %s after Disconnect: %v", name, err)
	}
	return s.Finalize()
}
