package benchmark

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

const (
	proxyRuns     = 3                      // measured runs; odd, for the median
	slowProxyTime = 200 * time.Millisecond // of a run after which one is enough
)

// proxy is a small program that computes and communicates as an application does: bench/proxy.h describes all of them,
// and has the same loops in C. It verifies its result in each run.
type proxy interface {
	run() error
	close() error
}

// proxyNames are the proxy applications.
func proxyNames() []string { return []string{"cg", "md", "fft", "wavefront", "tasks", "walk"} }

func newProxy(world *mpi.Comm, name string) (proxy, error) {
	switch name {
	case "cg":
		return newGradients(world)
	case "md":
		return newParticles(world)
	case "fft":
		return newFourier(world)
	case "wavefront":
		return newWavefront(world), nil
	case "tasks":
		return newTasks(world)
	}
	return newWalks(world)
}

// checkProxy checks the fields of proxy.
func (p *Plan) checkProxy() error {
	if p.Name == "proxy" && p.WorkerOp != "" && !slices.Contains(proxyNames(), p.WorkerOp) {
		return fmt.Errorf("proxy has the applications %s, not %q", strings.Join(proxyNames(), ", "), p.WorkerOp)
	}
	return nil
}

// proxies measures the proxy applications.
func proxies(world *mpi.Comm, p *Plan, _ int, report *Report) error {
	for _, name := range proxyNames() {
		if p.WorkerOp != "" && p.WorkerOp != name {
			continue
		}
		a, err := newProxy(world, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		us, err := p.proxyTime(world, a)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := a.close(); err != nil {
			return err
		}
		if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Op: name, US: us}); err != nil {
			return err
		}
	}
	return nil
}

// proxyTime returns the wall time of a run in us. The first run warms up.
func (p *Plan) proxyTime(world *mpi.Comm, a proxy) (float64, error) {
	var us []float64
	enough := []bool{false}
	for len(us) <= proxyRuns/int(max(p.shorten, 1)) && !enough[0] {
		if err := world.Barrier(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := a.run(); err != nil {
			return 0, err
		}
		took := time.Since(start)
		us = append(us, micros(took))
		enough[0] = took >= slowProxyTime
		if err := mpi.Bcast(world, enough, 0); err != nil {
			return 0, err
		}
	}
	if len(us) == 1 {
		return us[0], nil
	}
	return median(us[1:]), nil
}

// mixed returns a number that depends on all bits of x.
func mixed(x uint32) uint32 {
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// firstOf returns where part i of n begins, of parts that differ by one at most.
func firstOf(all, i, n int) int { return all * i / n }

// expectTotal returns an error unless the sum over all ranks is want.
func expectTotal(world *mpi.Comm, part, want uint64) error {
	sum := []uint64{0}
	if err := mpi.Allreduce(world, []uint64{part}, sum, mpi.Sum); err != nil {
		return err
	}
	if sum[0] != want {
		return fmt.Errorf("the result is %d, not %d", sum[0], want)
	}
	return nil
}
