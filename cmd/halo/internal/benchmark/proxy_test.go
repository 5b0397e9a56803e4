package benchmark

import (
	"bytes"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Results are the same on a number of ranks that does not divide the size of the problem.
func TestResultsOfProxiesAreThoseOfAnyNumberOfRanks(t *testing.T) {
	for _, name := range proxyNames() {
		if name == "fft" {
			continue // 32 planes
		}
		if out := run(t, 3, Plan{Name: "proxy", Fabric: mpitest.Fabrics()[0], WorkerOp: name}); !strings.Contains(out, name) {
			t.Errorf("%s prints %q", name, out)
		}
	}
}

// A run that ends with another result fails.
func TestWrongResultsOfProxiesAreErrors(t *testing.T) {
	err := mpitest.RunOver(mpitest.Fabrics()[0], 2, func(world *mpi.Comm) error {
		if err := expectTotal(world, uint64(world.Rank()), 1); err != nil {
			t.Error(err)
		}
		if err := expectTotal(world, 1, 1); err == nil || !strings.Contains(err.Error(), "the result is 2, not 1") {
			t.Errorf("a sum of 2: %v", err)
		}
		w := newWavefront(world)
		w.letters[0] ^= 1
		if err := w.run(); err == nil {
			t.Error("another text gives the same alignment")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlansOfProxiesAreChecked(t *testing.T) {
	err := mpitest.RunOver(mpitest.Fabrics()[0], 3, func(world *mpi.Comm) error {
		var out bytes.Buffer
		for _, c := range []struct {
			plan Plan
			want string
		}{
			{Plan{Name: "proxy", WorkerOp: "fft"}, "fft: 3 ranks do not divide 32"},
			{Plan{Name: "proxy", WorkerOp: "lu"}, `proxy has the applications cg, md, fft, wavefront, tasks, walk, not "lu"`},
			{Plan{Name: "guideline", Sizes: []int{8}}, "multiples of 8 and of the number of ranks, not 8"},
			{Plan{Name: "waitsome"}, "even number of ranks, not 3"},
		} {
			if err := Run(world, &c.plan, &out); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.plan.Name, err, c.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
