package replay_test

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/replay"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// network is a model in which all parameters count.
var network = sim.Link{Latency: 2 * time.Microsecond, Overhead: 300 * time.Nanosecond, Gap: 500 * time.Nanosecond, PerByte: 1}

func everywhere(int, int) *sim.Link { return &network }

// traced are the algorithms whose rounds can be traced.
func traced() (list []choice.Algorithm) {
	for k := range coll.Kinds {
		for _, a := range choice.Algorithms(coll.Kind(k)) {
			if _, err := coll.NewTracer(a, 2, 0, 8); err == nil {
				list = append(list, a)
			}
		}
	}
	return list
}

func replayed(t *testing.T, a choice.Algorithm, n, root, size int) replay.Result {
	tr, err := coll.NewTracer(a, n, root, size)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Run(n, everywhere, tr.Round)
}

// simulated is the time that the engine takes for a collective of n ranks that begin at the same time.
func simulated(t *testing.T, a choice.Algorithm, n, root, size int) time.Duration {
	choice := choice.Defaults()
	choice.Force(a)
	ends := make([]time.Duration, n)
	synctest.Test(t, func(t *testing.T) {
		host := make([]int32, n)
		for i := range host {
			host[i] = int32(i)
		}
		net := sim.New(host, sim.Link{}, network)
		if err := world.RunSimulated(net, n, func(w *world.World) error {
			w.Coll.Choose(choice)
			one, all := make([]byte, size), make([]byte, n*size)
			x := coll.Args{Width: 1, Root: root, Op: op.Sum, Type: op.Uint8}
			send, recv := one, make([]byte, size)
			switch a.Kind() {
			case coll.Gather, coll.Allgather:
				recv = all
			case coll.Scatter, coll.ReduceScatterBlock:
				send = all
			case coll.Alltoall:
				send, recv = all, make([]byte, n*size)
			}
			if a.Kind() != coll.Barrier {
				x.Send, x.Recv = coll.Bytes(send), coll.Bytes(recv)
			}
			const begin = time.Second
			time.Sleep(begin - net.Now())
			err := w.Coll.Do(w.Comm, a.Kind(), &x)
			ends[w.Comm.Rank] = net.Now() - begin
			time.Sleep(2*begin - net.Now())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
	return slices.Max(ends)
}

// A replay takes the time that the engine takes in virtual time, for all algorithms.
func TestReplayTakesTheTimeOfTheEngine(t *testing.T) {
	list := traced()
	if len(list) < 20 {
		t.Fatalf("only %v can be traced", list)
	}
	for _, a := range list {
		for _, n := range []int{2, 3, 8, 13} {
			const size = 16
			root := 0
			switch a.Kind() {
			case coll.Bcast, coll.Reduce, coll.Gather, coll.Scatter:
				root = n / 2
			}
			if got, want := replayed(t, a, n, root, size).Last, simulated(t, a, n, root, size); got != want {
				t.Errorf("%v of %d ranks takes %v in a replay, %v in the engine", a, n, got, want)
			}
		}
	}
}

// A barrier of 100,000 ranks takes 17 messages after each other. A rank that waits takes less than 1 KiB.
func TestManyRanks(t *testing.T) {
	n := 100_000
	if testrun.Race {
		n = 5_000
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	r := replayed(t, choice.BarrierDissemination, n, 0, 0)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	steps := bits.Len(uint(n - 1))
	if want := time.Duration(steps) * (network.Latency + 2*network.Overhead + 40); r.Last != want || r.Events != 2*n*steps {
		t.Errorf("%v and %d events, want %v and %d", r.Last, r.Events, want, 2*n*steps)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 1024 {
		t.Errorf("%d bytes for each rank", each)
	}
	t.Logf("%d events in %v", r.Events, took)
}

// The schedule of an allreduce of two ranks in GOAL.
func TestGoal(t *testing.T) {
	tr, err := coll.NewTracer(choice.AllreduceDoubling, 2, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := replay.Goal(&b, 2, 0.5, tr.Round); err != nil {
		t.Fatal(err)
	}
	want := "num_ranks 2\n"
	for me, other := range []int{1, 0} {
		want += fmt.Sprintf("\nrank %d {\nl1: calc 4\nl2: send 8b to %d tag 0\nl2 requires l1\nl3: recv 8b from %[2]d tag 0\nl3 requires l1\n"+
			"l4: calc 4\nl4 requires l1\nl4 requires l2\nl4 requires l3\n}\n", me, other)
	}
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if err := replay.Goal(full{}, 2, 0, tr.Round); err == nil {
		t.Error("a writer that fails gives no error")
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }
