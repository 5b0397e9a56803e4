// Command mixed is conformance/job_memory.c in Go, so that parents and children may be of either language.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		if parent := world.Parent(); parent != nil {
			return share(parent, true, len(os.Args) > 1 && os.Args[1] == "abort")
		}
		inter, _, err := world.Spawn(context.Background(), 0, mpi.Command{Program: os.Args[1], Args: os.Args[2:], N: 2})
		if err != nil {
			return err
		}
		if err := share(inter, false, false); err != nil {
			return err
		}
		wrong := []int32{0} // as in C, whose ranks may be in the same job
		if err := mpi.Allreduce(world, wrong, wrong, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 && wrong[0] == 0 {
			fmt.Println("no errors")
		}
		return nil
	})
}

// share shares a window with the other side of inter, and disconnects it.
func share(inter *mpi.Comm, child, abort bool) error {
	all, err := inter.Merge(child)
	if err != nil {
		return err
	}
	node, err := all.SplitType(mpi.CommTypeShared, 0)
	if err != nil {
		return err
	}
	if err := store(node); err != nil {
		return err
	}
	if abort && child && node.Rank() == node.Size()-1 {
		node.Abort(7)
	}
	for _, c := range []*mpi.Comm{node, all, inter} {
		if err := c.Disconnect(); err != nil {
			return err
		}
	}
	return nil
}

// store loads what the others have stored in a window, and puts to the next rank.
func store(c *mpi.Comm) error {
	me, n := c.Rank(), c.Size()
	w, err := mpi.WinAllocateShared[int64](c, 2)
	if err != nil {
		return err
	}
	if err := w.LockAll(0); err != nil {
		return err
	}
	w.Local()[0] = int64(100 + me)
	if err := synchronised(c, w.Window); err != nil {
		return err
	}
	for r := range n {
		theirs, err := w.Shared(r)
		if err != nil {
			return err
		}
		if len(theirs) != 2 || theirs[0] != int64(100+r) {
			return fmt.Errorf("rank %d of %d has %v", r, n, theirs)
		}
	}
	if err := w.Put([]int64{int64(200 + me)}, (me+1)%n, 1); err != nil {
		return err
	}
	if err := w.FlushAll(); err != nil {
		return err
	}
	if err := synchronised(c, w.Window); err != nil {
		return err
	}
	if got := w.Local()[1]; got != int64(200+(me+n-1)%n) {
		return fmt.Errorf("the rank before %d has put %d", me, got)
	}
	if err := w.UnlockAll(); err != nil {
		return err
	}
	return w.Free()
}

func synchronised(c *mpi.Comm, w *mpi.Window) error {
	if err := w.Sync(); err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	return w.Sync()
}
