package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// A pair is a rank that blocks in a call and the last rank of the job, which does not take part in it. The last rank
// has a pair with each other rank. It is rank 0 of the communicator.
type pair struct {
	c       *mpi.Comm
	sleeps  bool // this is the last rank
	one     []int64
	two     []int64
	long    []int64
	counts  []int
	displs  []int
	tempDir string
}

// A callOf prepares a call in both ranks of a pair, and returns what the rank that blocks does.
type callOf func(p *pair) (func() error, error)

// pairs has each rank block in the call that its argument "call:NAME" names, in a pair with the last rank.
func pairs(world *mpi.Comm) error {
	last := world.Size() - 1
	all, err := world.Group()
	if err != nil {
		return err
	}
	for r := range last {
		if world.Rank() != r && world.Rank() != last {
			continue
		}
		g, err := all.Incl([]int{last, r})
		if err != nil {
			return err
		}
		c, err := world.CreateGroup(g, r)
		if err != nil {
			return err
		}
		if err := c.SetName("pair"); err != nil {
			return err
		}
		p := &pair{c: c, sleeps: world.Rank() == last, one: make([]int64, 2), two: make([]int64, 2), long: make([]int64, 1<<20),
			counts: []int{1, 1}, displs: []int{0, 1}, tempDir: os.Getenv("HANG_DIR")}
		name := strings.TrimPrefix(os.Args[r+1], "call:")
		prepare := callsOf()[name]
		if prepare == nil {
			return fmt.Errorf("unknown call %q", name)
		}
		block, err := prepare(p)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !p.sleeps {
			if err := block(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return fmt.Errorf("%s has returned", name)
		}
	}
	time.Sleep(time.Hour)
	return nil
}

// waited waits for a request.
func waited(r mpi.Request) error {
	_, err := r.Wait()
	return err
}

// again starts a persistent request, and waits for it.
func again(r mpi.Request) error {
	if err := r.Start(); err != nil {
		return err
	}
	return waited(r)
}

// only is the error of a call with a result that does not matter.
func only[T any](_ T, err error) error { return err }

// callsOf returns all calls by their names.
func callsOf() map[string]callOf {
	all := map[string]callOf{}
	for _, calls := range []map[string]func(p *pair) error{messageCalls(), collectiveCalls(), requestsOfCollectives(), constructorCalls()} {
		for name, call := range calls {
			all[name] = func(p *pair) (func() error, error) { return func() error { return call(p) }, nil }
		}
	}
	for _, calls := range []map[string]callOf{neighbourCalls(), intercommunicatorCalls(), windowCalls(), fileCallsOf()} {
		for name, call := range calls {
			all[name] = call
		}
	}
	return all
}

// messageCalls are the calls for messages.
func messageCalls() map[string]func(p *pair) error {
	return map[string]func(p *pair) error{
		"Send":             func(p *pair) error { return mpi.Send(p.c, p.long, 0, 1) },
		"Ssend":            func(p *pair) error { return mpi.Ssend(p.c, p.one, 0, 1) },
		"Rsend":            func(p *pair) error { return mpi.Rsend(p.c, p.long, 0, 1) },
		"Recv":             func(p *pair) error { return only(mpi.Recv(p.c, p.one, 0, 1)) },
		"Sendrecv":         func(p *pair) error { return only(mpi.Sendrecv(p.c, p.one, 0, 1, p.two, 0, 1)) },
		"SendrecvReplace":  func(p *pair) error { return only(mpi.SendrecvReplace(p.c, p.one, 0, 1, 0, 1)) },
		"RecvSlice":        func(p *pair) error { _, _, err := mpi.RecvSlice[int64](p.c, 0, 1); return err },
		"Probe":            func(p *pair) error { return only(p.c.Probe(0, 1)) },
		"Mprobe":           func(p *pair) error { _, _, err := p.c.Mprobe(0, 1); return err },
		"Isend":            func(p *pair) error { return waited(mpi.Isend(p.c, p.long, 0, 1)) },
		"Issend":           func(p *pair) error { return waited(mpi.Issend(p.c, p.one, 0, 1)) },
		"Irsend":           func(p *pair) error { return waited(mpi.Irsend(p.c, p.long, 0, 1)) },
		"Irecv":            func(p *pair) error { return waited(mpi.Irecv(p.c, p.one, 0, 1)) },
		"Isendrecv":        func(p *pair) error { return waited(mpi.Isendrecv(p.c, p.one, 0, 1, p.two, 0, 1)) },
		"IsendrecvReplace": func(p *pair) error { return waited(mpi.IsendrecvReplace(p.c, p.one, 0, 1, 0, 1)) },
		"SendInit":         func(p *pair) error { return again(mpi.SendInit(p.c, p.long, 0, 1)) },
		"SsendInit":        func(p *pair) error { return again(mpi.SsendInit(p.c, p.one, 0, 1)) },
		"RsendInit":        func(p *pair) error { return again(mpi.RsendInit(p.c, p.long, 0, 1)) },
		"RecvInit":         func(p *pair) error { return again(mpi.RecvInit(p.c, p.one, 0, 1)) },
		"PrecvInit":        func(p *pair) error { return again(mpi.PrecvInit(p.c, p.one, 2, 0, 1)) },
		"PsendInit": func(p *pair) error {
			r := mpi.PsendInit(p.c, p.long, 2, 0, 1)
			if err := r.Start(); err != nil {
				return err
			}
			if err := r.PreadyRange(0, 1); err != nil {
				return err
			}
			return waited(r)
		},
		"Waitall": func(p *pair) error {
			return mpi.Waitall([]mpi.Request{mpi.Irecv(p.c, p.one, 0, 1), mpi.Irecv(p.c, p.two, 0, 2)}, nil)
		},
		"Waitany": func(p *pair) error {
			_, _, err := mpi.Waitany([]mpi.Request{mpi.Irecv(p.c, p.one, 0, 1), mpi.Irecv(p.c, p.two, 0, 2)})
			return err
		},
		"Waitsome": func(p *pair) error {
			return only(mpi.Waitsome([]mpi.Request{mpi.Irecv(p.c, p.one, 0, 1), mpi.Irecv(p.c, p.two, 0, 2)}, make([]int, 2), nil))
		},
		"BufferDetach": func(p *pair) error {
			if err := buffered(p); err != nil {
				return err
			}
			return only(mpi.BufferDetach(p.c))
		},
		"BufferFlush": func(p *pair) error {
			if err := buffered(p); err != nil {
				return err
			}
			return mpi.BufferFlush(p.c)
		},
		"IbufferFlush": func(p *pair) error {
			if err := buffered(p); err != nil {
				return err
			}
			return waited(mpi.IbufferFlush(p.c))
		},
		"StartGrequest": func(p *pair) error { return waited(p.c.StartGrequest(mpi.Grequest{})) },
	}
}

// buffered attaches a buffer and sends a long message through it.
func buffered(p *pair) error {
	if err := mpi.BufferAttach(p.c, make([]byte, 16<<20)); err != nil {
		return err
	}
	return mpi.Bsend(p.c, p.long, 0, 1)
}

// collectiveCalls are the blocking collectives, at a member that waits for the other.
func collectiveCalls() map[string]func(p *pair) error {
	return map[string]func(p *pair) error{
		"Barrier":            func(p *pair) error { return p.c.Barrier() },
		"Bcast":              func(p *pair) error { return mpi.Bcast(p.c, p.one, 0) },
		"Gather":             func(p *pair) error { return mpi.Gather(p.c, p.one[:1], p.two, 1) },
		"Gatherv":            func(p *pair) error { return mpi.Gatherv(p.c, p.one[:1], p.two, p.counts, p.displs, 1) },
		"Scatter":            func(p *pair) error { return mpi.Scatter(p.c, p.one, p.two[:1], 0) },
		"Scatterv":           func(p *pair) error { return mpi.Scatterv(p.c, p.one, p.counts, p.displs, p.two[:1], 0) },
		"Allgather":          func(p *pair) error { return mpi.Allgather(p.c, p.one[:1], p.two) },
		"Allgatherv":         func(p *pair) error { return mpi.Allgatherv(p.c, p.one[:1], p.two, p.counts, p.displs) },
		"Alltoall":           func(p *pair) error { return mpi.Alltoall(p.c, p.one, p.two) },
		"Alltoallv":          func(p *pair) error { return mpi.Alltoallv(p.c, p.one, p.counts, p.displs, p.two, p.counts, p.displs) },
		"Alltoallw":          func(p *pair) error { return p.c.Alltoallw(parts(p.one), parts(p.two)) },
		"Reduce":             func(p *pair) error { return mpi.Reduce(p.c, p.one, p.two, mpi.Sum, 1) },
		"Allreduce":          func(p *pair) error { return mpi.Allreduce(p.c, p.one, p.two, mpi.Sum) },
		"ReduceScatterBlock": func(p *pair) error { return mpi.ReduceScatterBlock(p.c, p.one, p.two[:1], mpi.Sum) },
		"ReduceScatter":      func(p *pair) error { return mpi.ReduceScatter(p.c, p.one, p.two[:1], p.counts, mpi.Sum) },
		"Scan":               func(p *pair) error { return mpi.Scan(p.c, p.one, p.two, mpi.Sum) },
		"Exscan":             func(p *pair) error { return mpi.Exscan(p.c, p.one, p.two, mpi.Sum) },
		"AllgatherOne":       func(p *pair) error { return only(mpi.AllgatherOne(p.c, 1)) },
		"AllreduceOne":       func(p *pair) error { return only(mpi.AllreduceOne(p.c, 1, mpi.Sum)) },
		"BcastOne":           func(p *pair) error { return only(mpi.BcastOne(p.c, 1, 0)) },
		"ExscanOne":          func(p *pair) error { return only(mpi.ExscanOne(p.c, 1, mpi.Sum)) },
	}
}

// parts are two buffers of one element each.
func parts(mem []int64) []mpi.Buffer { return []mpi.Buffer{mpi.Buf(mem[:1]), mpi.Buf(mem[1:])} }

// requestsOfCollectives are the collectives that do not block, and persistent ones, and a wait for the request.
func requestsOfCollectives() map[string]func(p *pair) error {
	return map[string]func(p *pair) error{
		"Ibarrier":    func(p *pair) error { return waited(p.c.Ibarrier()) },
		"Ibcast":      func(p *pair) error { return waited(mpi.Ibcast(p.c, p.one, 0)) },
		"Igather":     func(p *pair) error { return waited(mpi.Igather(p.c, p.one[:1], p.two, 1)) },
		"Igatherv":    func(p *pair) error { return waited(mpi.Igatherv(p.c, p.one[:1], p.two, p.counts, p.displs, 1)) },
		"Iscatter":    func(p *pair) error { return waited(mpi.Iscatter(p.c, p.one, p.two[:1], 0)) },
		"Iscatterv":   func(p *pair) error { return waited(mpi.Iscatterv(p.c, p.one, p.counts, p.displs, p.two[:1], 0)) },
		"Iallgather":  func(p *pair) error { return waited(mpi.Iallgather(p.c, p.one[:1], p.two)) },
		"Iallgatherv": func(p *pair) error { return waited(mpi.Iallgatherv(p.c, p.one[:1], p.two, p.counts, p.displs)) },
		"Ialltoall":   func(p *pair) error { return waited(mpi.Ialltoall(p.c, p.one, p.two)) },
		"Ialltoallv": func(p *pair) error {
			return waited(mpi.Ialltoallv(p.c, p.one, p.counts, p.displs, p.two, p.counts, p.displs))
		},
		"Ialltoallw":          func(p *pair) error { return waited(p.c.Ialltoallw(parts(p.one), parts(p.two))) },
		"Ireduce":             func(p *pair) error { return waited(mpi.Ireduce(p.c, p.one, p.two, mpi.Sum, 1)) },
		"Iallreduce":          func(p *pair) error { return waited(mpi.Iallreduce(p.c, p.one, p.two, mpi.Sum)) },
		"IreduceScatterBlock": func(p *pair) error { return waited(mpi.IreduceScatterBlock(p.c, p.one, p.two[:1], mpi.Sum)) },
		"IreduceScatter":      func(p *pair) error { return waited(mpi.IreduceScatter(p.c, p.one, p.two[:1], p.counts, mpi.Sum)) },
		"Iscan":               func(p *pair) error { return waited(mpi.Iscan(p.c, p.one, p.two, mpi.Sum)) },
		"Iexscan":             func(p *pair) error { return waited(mpi.Iexscan(p.c, p.one, p.two, mpi.Sum)) },
		"BarrierInit":         func(p *pair) error { return again(p.c.BarrierInit()) },
		"BcastInit":           func(p *pair) error { return again(mpi.BcastInit(p.c, p.one, 0)) },
		"GatherInit":          func(p *pair) error { return again(mpi.GatherInit(p.c, p.one[:1], p.two, 1)) },
		"GathervInit":         func(p *pair) error { return again(mpi.GathervInit(p.c, p.one[:1], p.two, p.counts, p.displs, 1)) },
		"ScatterInit":         func(p *pair) error { return again(mpi.ScatterInit(p.c, p.one, p.two[:1], 0)) },
		"ScattervInit":        func(p *pair) error { return again(mpi.ScattervInit(p.c, p.one, p.counts, p.displs, p.two[:1], 0)) },
		"AllgatherInit":       func(p *pair) error { return again(mpi.AllgatherInit(p.c, p.one[:1], p.two)) },
		"AllgathervInit":      func(p *pair) error { return again(mpi.AllgathervInit(p.c, p.one[:1], p.two, p.counts, p.displs)) },
		"AlltoallInit":        func(p *pair) error { return again(mpi.AlltoallInit(p.c, p.one, p.two)) },
		"AlltoallvInit": func(p *pair) error {
			return again(mpi.AlltoallvInit(p.c, p.one, p.counts, p.displs, p.two, p.counts, p.displs))
		},
		"AlltoallwInit":          func(p *pair) error { return again(p.c.AlltoallwInit(parts(p.one), parts(p.two))) },
		"ReduceInit":             func(p *pair) error { return again(mpi.ReduceInit(p.c, p.one, p.two, mpi.Sum, 1)) },
		"AllreduceInit":          func(p *pair) error { return again(mpi.AllreduceInit(p.c, p.one, p.two, mpi.Sum)) },
		"ReduceScatterBlockInit": func(p *pair) error { return again(mpi.ReduceScatterBlockInit(p.c, p.one, p.two[:1], mpi.Sum)) },
		"ReduceScatterInit":      func(p *pair) error { return again(mpi.ReduceScatterInit(p.c, p.one, p.two[:1], p.counts, mpi.Sum)) },
		"ScanInit":               func(p *pair) error { return again(mpi.ScanInit(p.c, p.one, p.two, mpi.Sum)) },
		"ExscanInit":             func(p *pair) error { return again(mpi.ExscanInit(p.c, p.one, p.two, mpi.Sum)) },
	}
}
