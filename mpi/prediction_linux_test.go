package mpi_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/replay"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// timing is a collective whose time on real hosts is compared with that on the model network.
type timing struct {
	name  string
	kind  coll.Kind
	bytes int
	do    func(world *mpi.Comm) error
}

// timings are the collectives that the program measures and the test predicts, in this order.
func timings() []timing {
	word, words := make([]uint8, 8), make([]uint8, 8*1024)
	return []timing{
		{"Barrier", coll.Barrier, 0, func(w *mpi.Comm) error { return w.Barrier() }},
		{"Bcast", coll.Bcast, 8, func(w *mpi.Comm) error { return mpi.Bcast(w, word, 0) }},
		{"Reduce", coll.Reduce, 8, func(w *mpi.Comm) error { return mpi.Reduce(w, word, words[:8], mpi.Sum, 0) }},
		{"Allreduce", coll.Allreduce, 8, func(w *mpi.Comm) error { return mpi.Allreduce(w, word, words[:8], mpi.Sum) }},
		{"Allgather", coll.Allgather, 8, func(w *mpi.Comm) error { return mpi.Allgather(w, word, words[:8*w.Size()]) }},
		{"Alltoall", coll.Alltoall, 8, func(w *mpi.Comm) error { return mpi.Alltoall(w, words[:8*w.Size()], words[4096:][:8*w.Size()]) }},
	}
}

const (
	// wireDelay is how long a frame takes through the wire of a host, far longer than a process may wait for a core.
	wireDelay = 25 * time.Millisecond
	// timingRuns is how often each collective is run. The least time counts.
	timingRuns = 2
)

func init() { linuxPrograms["timed"] = timedProgram }

// timedProgram prints for each of the timings the time from the moment at which all ranks begin to the last
// end. All hosts are on one machine, so their clocks agree.
func timedProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	for _, x := range timings() {
		least := int64(math.MaxInt64)
		for i := range timingRuns + 1 {
			at := []int64{time.Now().Add(10 * wireDelay).UnixNano()}
			if err := mpi.Bcast(world, at, 0); err != nil {
				return err
			}
			time.Sleep(time.Until(time.Unix(0, at[0])))
			if err := x.do(world); err != nil {
				return err
			}
			took := []int64{time.Now().UnixNano() - at[0]}
			if err := mpi.Allreduce(world, took, took, mpi.Max); err != nil {
				return err
			}
			if i > 0 { // the first one connects
				least = min(least, took[0])
			}
		}
		if world.Rank() == 0 {
			fmt.Println(x.name, least)
		}
	}
	return mpi.Finalize()
}

// A collective of 8 ranks on hosts whose links delay every frame takes at least the time of its rounds on the
// model network: a prediction has no round that the engine does not carry out. The ratio is reported.
func TestCollectivesTakeThePredictedRounds(t *testing.T) {
	testrun.PlainOnly(t, "it reports times")
	const n = 8
	j := newHostJobs(t, n)
	var hosts []string
	for i := range n {
		j.h.Wire(i, hosttest.Line{Delay: wireDelay})
		hosts = append(hosts, j.h.Name(i)+":1")
	}
	r := j.start(t, "timed", "01234567", "-host", strings.Join(hosts, ","))
	r.wait(t, 0)
	link := &sim.Link{Latency: 2 * wireDelay} // through the wires of both hosts
	choice := choice.Defaults()
	for _, x := range timings() {
		_, text, found := strings.Cut(r.out.String(), x.name+" ")
		var ns int64
		if _, err := fmt.Sscan(text, &ns); err != nil || !found {
			t.Fatalf("no time of %s in %q: %v", x.name, r.out.String(), err)
		}
		rounds, err := coll.NewTracer(choice.Apart(x.kind, n, x.bytes), n, 0, x.bytes)
		ok(t, err)
		predicted := replay.Run(n, func(a, b int) *sim.Link { return link }, rounds.Round).Last
		took := time.Duration(ns)
		t.Logf("%s of %d bytes: %v, predicted %v: %.2f", x.name, x.bytes, took.Round(time.Microsecond), predicted, float64(took)/float64(predicted))
		if took < predicted {
			t.Errorf("%s takes %v, less than its rounds on the model network, %v", x.name, took, predicted)
		}
	}
}
