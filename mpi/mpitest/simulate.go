package mpitest

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/internal/world"
	"github.com/halo-mpi/halo/mpi"
)

// Link is a model of the way between two ranks: LogGP. The processor of a rank is busy for the Overhead of
// each frame that it sends or takes. A frame of k bytes, of which 40 are its header, leaves at the earliest
// max(Gap, k PerByte) after the one before, and arrives k PerByte + Latency later.
type Link struct {
	Latency  time.Duration
	Overhead time.Duration
	Gap      time.Duration
	PerByte  float64 // nanoseconds for each byte
}

// Network is a model of hosts and what connects them.
type Network struct {
	Host []int // the number of the host of each rank; nil: each rank has a host of its own
	Node Link  // between ranks of one host, which use no shared memory
	Net  Link  // between hosts
}

// Simulate runs fn as n ranks over a model network, in virtual time: package time tells how long
// communication takes on that network, and computation takes no time. The run takes as long as this machine
// needs to carry it out, which is some milliseconds for each rank, up to a thousand ranks or more. Equal runs
// take equal virtual time.
//
// The run is a bubble of package testing/synctest. So fn must not wait for anything outside of it, such as
// files, and a rank that tests a request again and again waits for ever: let it sleep in between.
func Simulate(t *testing.T, network Network, n int, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	type api interface {
		RunBy(run func(rank func(w *world.World) error) error, fn func(world *mpi.Comm) error) error
	}
	host := make([]int32, n)
	for i := range host {
		host[i] = int32(i)
		if network.Host != nil {
			host[i] = int32(network.Host[i])
		}
	}
	synctest.Test(t, func(t *testing.T) {
		net := sim.New(host, sim.Link(network.Node), sim.Link(network.Net))
		simulated := func(rank func(w *world.World) error) error { return world.RunSimulated(net, n, rank) }
		if err := unexported.Get[api]().RunBy(simulated, func(world *mpi.Comm) error {
			fn(t, world)
			if t.Failed() {
				return errors.New("the test has failed")
			}
			return nil
		}); err != nil {
			t.Errorf("%d simulated ranks: %v", n, err)
		}
	})
}
