package world

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
)

// twoJobs runs fn in the processes of two jobs of n each, with a communicator of all.
func twoJobs(n int, fn func(w *World, all *comm.Comm) error) error {
	_, worlds, comms, err := jobsInMesh(n, n)
	if err != nil {
		return err
	}
	errs := make([]error, 2*n)
	var running sync.WaitGroup
	for rank, w := range worlds { // now all have met
		running.Go(func() {
			errs[rank] = fn(w, comms[rank])
			if errs[rank] == nil {
				errs[rank] = w.Coll.Barrier(comms[rank])
			}
			if errs[rank] == nil {
				errs[rank] = w.Close()
			}
			if errs[rank] != nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, errs[rank])
				for _, other := range worlds {
					if other != w {
						other.Proc.LoseAll(errs[rank])
					}
				}
			}
		})
	}
	running.Wait()
	err = errors.Join(errs...)
	for _, w := range worlds {
		err = errors.Join(err, w.Proc.Stop(), w.Proc.Node().Release(err != nil))
	}
	return err
}

// exchange sends a word from each member of c to each other, and receives the words from any
// source: the senders are known by their ranks, whatever number this process calls them by.
func exchange(w *World, c *comm.Comm, tag int32) error {
	n, me := c.Size(), c.Rank
	var sends []*p2p.Request
	w.Proc.Lock()
	for r := range n {
		sends = append(sends, w.P2P.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: r, Tag: tag}, mem.Of([]byte{byte(me), byte(r)})))
	}
	w.Proc.Unlock()
	seen := make([]bool, n)
	for range n {
		var s p2p.Status
		var b [2]byte
		w.P2P.Recv(c, b[:], p2p.AnySource, tag, &s)
		if s.Err != nil {
			return s.Err
		}
		if s.Source < 0 || s.Source >= n || seen[s.Source] || int(b[0]) != s.Source || int(b[1]) != me {
			return fmt.Errorf("a message from rank %d to %d is said to come from %d", b[0], b[1], s.Source)
		}
		seen[s.Source] = true
	}
	w.Proc.Lock()
	defer w.Proc.Unlock()
	for _, r := range sends {
		w.P2P.Wait(r)
		w.P2P.Free(r)
	}
	return nil
}

// gather returns what all members of c give.
func gather(w *World, c *comm.Comm, mine uint64) ([]uint64, error) {
	out := binary.LittleEndian.AppendUint64(nil, mine)
	in := make([]byte, 8*c.Size())
	if err := w.Coll.Do(c, coll.Allgather, &coll.Args{Send: coll.Bytes(out), Recv: coll.Bytes(in), Width: 8, Call: call.Allgather}); err != nil {
		return nil, err
	}
	all := make([]uint64, c.Size())
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(in[8*i:])
	}
	return all, nil
}

// use communicates on a communicator, and checks that all its members have the same context.
func use(w *World, c *comm.Comm) error {
	if err := exchange(w, c, 7); err != nil {
		return err
	}
	contexts, err := gather(w, c, c.Ctx)
	if err != nil {
		return err
	}
	if slices.Min(contexts) != slices.Max(contexts) {
		return fmt.Errorf("the members have the contexts %#x", contexts)
	}
	var send, recv [8]byte
	binary.LittleEndian.PutUint64(send[:], uint64(c.Rank))
	if err := w.Coll.Allreduce(c, send[:], recv[:], op.Sum, op.Uint64, 0); err != nil {
		return err
	}
	if got, want := binary.LittleEndian.Uint64(recv[:]), uint64(c.Size()*(c.Size()-1)/2); got != want {
		return fmt.Errorf("the sum of the ranks is %d, want %d", got, want)
	}
	return nil
}

// access makes a window on a communicator of two jobs, and has each member put to the next one, add
// to a sum at the first one under its lock, and read what all others have.
func access(w *World, c *comm.Comm) error {
	n, me := c.Size(), c.Rank
	v, err := w.RMA.Create(c, rma.Spec{Flavor: rma.Allocated, Size: 16, DispUnit: 8})
	if err != nil {
		return err
	}
	word := binary.LittleEndian.AppendUint64(nil, uint64(me)+100)
	next := (me + 1) % n
	if err := v.Fence(0); err != nil {
		return err
	}
	if err := v.PutBytes(word, next, 0); err != nil {
		return err
	}
	if err := v.Fence(0); err != nil {
		return err
	}
	if err := v.Fence(rma.ModeNoSucceed); err != nil {
		return err
	}
	for range 3 {
		if err := v.Lock(true, 0, 0); err != nil {
			return err
		}
		var sum [8]byte
		if err := v.GetBytes(sum[:], 0, 1); err != nil {
			return err
		}
		if err := v.Flush(0); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(sum[:], binary.LittleEndian.Uint64(sum[:])+uint64(me))
		if err := v.PutBytes(sum[:], 0, 1); err != nil {
			return err
		}
		if err := v.Unlock(0); err != nil {
			return err
		}
	}
	if err := w.Coll.Barrier(c); err != nil {
		return err
	}
	if err := v.LockAll(0); err != nil {
		return err
	}
	got := make([]byte, 16*n)
	for r := range n {
		if err := v.GetBytes(got[16*r:16*r+16], r, 0); err != nil {
			return err
		}
	}
	if err := v.UnlockAll(); err != nil {
		return err
	}
	for r := range n {
		if put := binary.LittleEndian.Uint64(got[16*r:]); put != uint64((r+n-1)%n)+100 {
			return fmt.Errorf("rank %d has %d from the one before it", r, put)
		}
	}
	if sum := binary.LittleEndian.Uint64(got[8:]); sum != uint64(3*n*(n-1)/2) {
		return fmt.Errorf("the sum under the lock is %d, want %d", sum, 3*n*(n-1)/2)
	}
	return v.Free()
}

// around gives a communicator a ring as its topology, and exchanges with the neighbours, of which some
// belong to the other job.
func around(w *World, c *comm.Comm) error {
	n := c.Size()
	before, after := (c.Rank+n-1)%n, (c.Rank+1)%n
	c.Neighbors = &comm.Neighbors{Sources: []int{before, after}, Dests: []int{after, before}}
	for _, size := range []int{1, 100_000} {
		send := append(bytes.Repeat([]byte{byte(c.Rank)}, size), bytes.Repeat([]byte{byte(c.Rank + 100)}, size)...)
		recv := make([]byte, 2*size)
		a := coll.Args{Send: coll.Bytes(send), Recv: coll.Bytes(recv), Width: 1, Call: call.NeighborAlltoall}
		if err := w.Coll.Do(c, coll.NeighborAlltoall, &a); err != nil {
			return err
		}
		want := append(bytes.Repeat([]byte{byte(before)}, size), bytes.Repeat([]byte{byte(after + 100)}, size)...)
		if !bytes.Equal(recv, want) {
			return fmt.Errorf("blocks of %d bytes come from %d and %d, want %d and %d", size, recv[0], recv[size], before, after+100)
		}
	}
	return nil
}

// A process is a job and an index: processes of two jobs, of which no two call a third one by the
// same number, share communicators, and those that they make of them.
func TestTwoJobs(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		err := twoJobs(n, func(w *World, all *comm.Comm) error {
			if err := use(w, all); err != nil {
				return fmt.Errorf("all: %w", err)
			}
			if err := use(w, w.Comm); err != nil {
				return fmt.Errorf("world: %w", err)
			}
			dup, err := w.Coll.Dup(all)
			if err != nil {
				return err
			}
			if err := use(w, dup); err != nil {
				return fmt.Errorf("dup: %w", err)
			}
			if err := around(w, dup); err != nil {
				return fmt.Errorf("ring: %w", err)
			}
			// The first rank of each part is of the other job than in all.
			part, err := w.Coll.Split(all, all.Rank%2, -all.Rank)
			if err != nil {
				return err
			}
			if err := use(w, part); err != nil {
				return fmt.Errorf("part: %w", err)
			}
			if err := access(w, all); err != nil {
				return fmt.Errorf("window: %w", err)
			}
			// The jobs join: the lower process of all leads the first group.
			joined, err := w.Coll.Join(w.Comm, n-1, &coll.Bridge{Over: all, Leader: all.Size() - 1 - all.Rank/n*n, Tag: 3})
			if err != nil {
				return fmt.Errorf("join: %w", err)
			}
			merged, err := w.Coll.Merge(joined, all.Rank >= n)
			if err != nil {
				return fmt.Errorf("merge: %w", err)
			}
			if err := use(w, merged); err != nil {
				return fmt.Errorf("merged: %w", err)
			}
			if merged.Rank != all.Rank {
				return fmt.Errorf("rank %d of all is rank %d of the merged groups", all.Rank, merged.Rank)
			}
			contexts := []uint64{w.Comm.Ctx, w.Self.Ctx, all.Ctx, dup.Ctx, part.Ctx, joined.Ctx, merged.Ctx}
			slices.Sort(contexts)
			if len(slices.Compact(contexts)) != 7 {
				return fmt.Errorf("communicators share a context: %#x", contexts)
			}
			return nil
		})
		if err != nil {
			t.Errorf("two jobs of %d: %v", n, err)
		}
	}
}

// large is the connection of a process to a job that is larger than any launcher here could start.
type large struct {
	boot.Boot
	job *boot.Job
}

func (l large) Job() *boot.Job { return l.job }

// A process pays for the processes that it talks to. What it keeps of each other one of its job is
// its number in the communicator of all, and its place in the division of that among the hosts.
func TestMemoryForEachProcessOfTheJob(t *testing.T) {
	testrun.PlainOnly(t, "the race detector takes memory of its own")
	const per = 24 // bytes
	used := func(n int) int {
		job := *boot.Memory(1)[0].Job()
		job.Size, job.Hosts, job.Host = n, []string{"a", "b", "c", "d"}, make([]int32, n)
		for i := range job.Host {
			job.Host[i] = int32(i * 4 / n)
		}
		memory := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := memory()
		w, err := startOver(large{boot.Memory(1)[0], &job}, ways{}, &port{m: &mesh{}, bell: make(chan struct{}, 1)}, false, goroutinePolicy(), false, notes{})
		if err == nil {
			err = w.attachWorld()
		}
		if err != nil {
			t.Fatal(err)
		}
		after := memory()
		if err := w.Proc.Stop(); err != nil {
			t.Error(err)
		}
		runtime.KeepAlive(w)
		return after - before
	}
	used(1000) // what is made once
	small, big := used(1000), used(61000)
	if each := float64(big-small) / 60000; each > per {
		t.Errorf("a process takes %d bytes in a job of 1000 and %d in one of 61000: %.1f for each other one, want at most %d", small, big, each, per)
	} else {
		t.Logf("%.1f bytes for each other process", each)
	}
}
