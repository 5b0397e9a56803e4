// Command mixed is conformance/job_memory.c in Go, so that parents and children, servers and clients may be of either
// language.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		if parent := world.Parent(); parent != nil {
			return share(parent, true, len(os.Args) > 1 && os.Args[1] == "abort")
		}
		ctx := context.Background()
		var inter *mpi.Comm
		var err error
		switch os.Args[1] {
		case "serve":
			inter, err = served(ctx, world, os.Args[2])
		case "call":
			inter, err = connected(ctx, world, os.Args[2])
		default:
			inter, _, err = world.Spawn(ctx, 0, mpi.Command{Program: os.Args[1], Args: os.Args[2:], N: 2})
		}
		if err != nil {
			return err
		}
		if err := share(inter, os.Args[1] == "call", false); err != nil {
			return err
		}
		wrong := []int32{0} // job_memory.c makes this sum, too, and its processes may be in this world
		if err := mpi.Allreduce(world, wrong, wrong, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 && wrong[0] == 0 {
			fmt.Println("no errors")
		}
		return nil
	})
}

// served returns the intercommunicator of a server with its client.
func served(ctx context.Context, world *mpi.Comm, service string) (*mpi.Comm, error) {
	var port *mpi.Port
	if world.Rank() == 0 {
		var err error
		port, err = mpi.OpenPort(world)
		if err != nil {
			return nil, err
		}
		defer port.Close()
		if err := port.Publish(service); err != nil {
			return nil, err
		}
	}
	inter, err := port.Accept(ctx, world, 0)
	if world.Rank() == 0 {
		err = errors.Join(err, port.Unpublish(service))
	}
	return inter, err
}

// connected waits until its server has published the service, and returns the intercommunicator with it.
func connected(ctx context.Context, world *mpi.Comm, service string) (*mpi.Comm, error) {
	port := ""
	for world.Rank() == 0 && port == "" {
		var err error
		port, err = mpi.LookupName(world, service)
		if err != nil && !errors.Is(err, mpi.ErrName) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
	return mpi.Connect(ctx, port, world, 0)
}

// longest is the number of elements of the longest message.
const longest = 8000

// talk exchanges messages of several lengths between each two ranks of both sides, and calls collectives.
func talk(inter *mpi.Comm, high bool) error {
	me, others, mine, theirs := inter.Rank(), inter.RemoteSize(), 0, 1000
	if high {
		mine, theirs = theirs, mine
	}
	in := make([]int64, longest)
	for r := range others {
		for n := 1; n <= longest; n *= 20 {
			out := make([]int64, n)
			for i := range out {
				out[i] = int64(mine + 10*me + r + i)
			}
			s, err := mpi.Sendrecv(inter, out, r, n, in, r, n)
			if err != nil {
				return err
			}
			want := int64(theirs + 10*r + me)
			if got := mpi.Count[int64](s); got != n || in[0] != want || in[n-1] != want+int64(n-1) {
				return fmt.Errorf("%d of %d from %d: %d to %d", got, n, r, in[0], in[n-1])
			}
		}
	}
	sum := []int64{-1}
	if err := mpi.Allreduce(inter, []int64{int64(me + 1)}, sum, mpi.Sum); err != nil || sum[0] != int64(others*(others+1)/2) {
		return fmt.Errorf("the sum of %d others is %d: %v", others, sum[0], err)
	}
	first, root := []int64{0, 0}, 0
	switch {
	case !high && me == 0:
		first[0], first[1], root = 7, 8, mpi.Root
	case !high:
		root = mpi.ProcNull
	}
	if err := mpi.Bcast(inter, first, root); err != nil || high && (first[0] != 7 || first[1] != 8) {
		return fmt.Errorf("the root of the others sends %d: %v", first, err)
	}
	return nil
}

// share exchanges messages with the other side of inter, shares a window with it, and disconnects it.
func share(inter *mpi.Comm, high, abort bool) error {
	if err := talk(inter, high); err != nil {
		return err
	}
	all, err := inter.Merge(high)
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
	if abort && node.Rank() == node.Size()-1 {
		node.Abort(7)
	}
	for _, c := range []*mpi.Comm{node, all, inter} {
		if err := c.Disconnect(); err != nil {
			return err
		}
	}
	return nil
}

// store makes a shared window, loads what each process has stored there, and puts to the next rank.
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

// synchronised orders stores to a window before loads of all members that follow it.
func synchronised(c *mpi.Comm, w *mpi.Window) error {
	if err := w.Sync(); err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	return w.Sync()
}
