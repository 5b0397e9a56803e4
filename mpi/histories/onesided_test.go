package histories_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Random programs of one-sided communication, compared with a sequential oracle: windows and
// epochs of all kinds, all calls, and layouts on both sides. A seed determines a program, which
// is the same on all fabrics. Its accesses do not conflict; if the order of operations is not
// determined, the oracle searches for one (onesided_order_test.go).

// onesidedBatch is the number of programs that one world runs.
const onesidedBatch = 20

// TestWindowHistories is the metamorphic test of chapter 12: of RC-01,
// RC-02, RC-03, RC-04, RC-05, RC-06, RC-07, RC-08, RC-11, RC-13, RC-14, RC-15, RC-16, RC-17,
// RS-01, RS-02, RS-03, RS-04, RS-06, RW-08, X-RMA-08, X-RMA-11, X-RMA-16, X-RMA-17, X-RMA-18,
// X-RMA-21 and X-RMA-22; and of the extensions: of QV-04, QV-05, QV-07,
// QV-08, QV-09, QV-20, QV-24, QV-26, QV-27, QV-29, QV-30, QV-33 and QV-38. A failure says how to
// replay it, and prints the shortest program that fails.
func TestWindowHistories(t *testing.T) {
	count := 24
	switch {
	case testrun.Race:
		count = 6
	case testing.Short():
		count = 8
	}
	var all []series
	for _, fabric := range mpitest.Fabrics() {
		places := []string{"00", "000", "00000"}
		switch fabric {
		case "tcp": // no ranks share memory
			places = []string{"01", "012", "01234"}
		case "shm":
			places = append(places, "0110", "001021") // each rank shares memory with some others
		case "inproc":
			places = append(places, "0110")
		}
		for i, at := range places {
			all = append(all, series{placing{fabric, at}, 1 + uint64(i*100_000), count})
		}
	}
	runAll(t, all, onesidedBatch, runOneSided)
}

// overOneSided is the fabric for mpitest.RunOver of a placing. Over tcp ranks share no memory
// even on one host, so that no other hosts need to be simulated.
func overOneSided(at placing) string {
	if at.fabric == "tcp" {
		return at.fabric
	}
	return at.over()
}

func runOneSided(t *testing.T, s series) {
	switch {
	case testrun.Race && s.fabric == "shm":
		t.Fatalf("%v: the race detector does not see what processes agree on in memory that they map", s)
	case s.fabric == "tcp" && !strings.HasPrefix("0123456789", s.places):
		t.Fatalf("%v: nobody shares memory over tcp, want a host for each rank, as in tcp@012", s)
	}
	fabric := overOneSided(s.placing)
	programs := make([]*execution, s.count)
	for i := range programs {
		programs[i] = newOneSided(s.first+uint64(i), s.places).execution()
	}
	failed := struct {
		sync.Mutex
		at int // the program at which a rank is; while rank 0 checks it, others may have begun the next one
	}{at: s.count}
	err := mpitest.RunOver(fabric, len(s.places), func(world *mpi.Comm) error {
		for i, x := range programs {
			stop := testrun.WatchFunc(func() string { return "a program hangs; " + s.replay(t, x.seed, 1) + "\n" + x.String() })
			err := x.run(world)
			stop()
			if err == nil && world.Rank() == 0 {
				err = x.check()
			}
			if err != nil {
				failed.Lock()
				failed.at = min(failed.at, i)
				failed.Unlock()
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	p := programs[min(failed.at, s.count-1)].oneSided
	t.Errorf("%v\n%s", err, s.replay(t, p.seed, 1))
	err = p.runAlone(fabric)
	if err == nil {
		t.Fatalf("it takes the programs before it, or luck, to fail: %s\nit is\n%v", s.replay(t, s.first, failed.at+1), p)
	}
	p, err = shrinkOneSided(fabric, p, err)
	t.Fatalf("the shortest that fails: %v\n%v", err, p)
}

// The generator makes all kinds of windows, epochs, operations and sides, and different programs
// for different seeds.
func TestWindowHistoriesHaveEverything(t *testing.T) {
	testrun.PlainOnly(t, "there is one goroutine")
	seen := map[string]int{}
	texts := map[string]bool{}
	for seed := range uint64(150) {
		p := newOneSided(seed, "00101")
		if texts[p.String()] {
			t.Errorf("seed %d makes a program that another one has made", seed)
		}
		texts[p.String()] = true
		if seed%10 == 0 && p.String() != newOneSided(seed, "00101").String() {
			t.Fatalf("seed %d makes two programs", seed)
		}
		for _, tr := range p.tracks {
			for _, ph := range tr.phases {
				for _, r := range ph.rounds {
					countExtensions(seen, ph, r)
					for _, s := range r.steps {
						seen[fmt.Sprint("do ", s.do)]++
						if s.do != doOp {
							continue
						}
						o := s.op
						seen[fmt.Sprintf("%v %v", ph.win.flavor, ph.kind)]++
						seen[fmt.Sprintf("%v %v", ph.kind, o.kind)]++
						seen[fmt.Sprintf("%v by request %v", o.kind, o.request)]++
						seen[fmt.Sprintf("%v by slice %v", o.kind, o.typed)]++
						switch {
						case o.target == nobody:
							seen[fmt.Sprintf("%v to nobody", o.kind)]++
						case o.target == o.origin:
							seen[fmt.Sprintf("%v to itself", o.kind)]++
						}
						if o.there.m.Size()*o.there.count == 0 {
							seen[fmt.Sprintf("%v of nothing", o.kind)]++
						}
						if o.accumulates() {
							seen[fmt.Sprintf("on %v", types.Type(o.elem))]++
							seen[fmt.Sprintf("by %v", o.op)]++
						}
					}
				}
			}
		}
	}
	want := func(format string, args ...any) {
		if name := fmt.Sprintf(format, args...); seen[name] < 3 {
			t.Errorf("%d times %s", seen[name], name)
		}
	}
	for k := range syncKinds {
		for f := range flavors {
			want("%v %v", f, k)
		}
		for o := range isUpdate {
			want("%v %v", k, o)
		}
	}
	want("%v %v", byLock, isUpdate)
	for k := range syncKinds {
		want("%v %v", k, isStorm)
	}
	for o := range isUpdate {
		want("%v to nobody", o)
		want("%v to itself", o)
		want("%v by slice true", o)
		want("%v by slice false", o)
		if o < isFetchAndOp {
			want("%v by request true", o)
			want("%v of nothing", o)
		}
	}
	wantExtensions(want)
	for d := range doRelease + 1 {
		want("do %d", d)
	}
	for _, id := range elementIDs() {
		want("on %v", types.Type(id))
	}
	for _, o := range kernels() {
		want("by %v", o.Op)
	}
}
