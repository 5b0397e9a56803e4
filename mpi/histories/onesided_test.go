package histories_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Random programs of one-sided communication against a sequential oracle: windows of
// all kinds, epochs of all kinds, all calls, layouts on both sides. A seed determines a
// program, which is the same on all fabrics; no accesses of it conflict, and what the
// order of operations leaves open the oracle searches (onesided_order_test.go).

var (
	winHistoriesFlag = flag.Int("winhistories", 0, "random programs of one-sided communication per fabric and placing of ranks")
	winHistoryFlag   = flag.Uint64("winhistory", 0, "seed of the first of them")
)

// winSecondsVariable names for how many seconds programs are run on each fabric, instead
// of a number of them.
const winSecondsVariable = "HALO_WIN_SECONDS"

// winBatch is how many programs a world runs.
const winBatch = 20

// TestWindowHistories is the metamorphic test of chapter 12 (issue 5, section 6): of RC-01,
// RC-02, RC-03, RC-04, RC-05, RC-06, RC-07, RC-08, RC-11, RC-13, RC-14, RC-15, RC-16, RC-17,
// RS-01, RS-02, RS-03, RS-04, RS-06, RW-08, X-RMA-08, X-RMA-11, X-RMA-16, X-RMA-17,
// X-RMA-18, X-RMA-21 and X-RMA-22; and of the extensions (issue 6, section 4): of QV-04,
// QV-05, QV-07, QV-08, QV-09, QV-20, QV-24, QV-26, QV-27, QV-29, QV-30, QV-33 and QV-38. A failure
// tells how to replay it, and the shortest program that fails.
func TestWindowHistories(t *testing.T) {
	count := 24
	switch {
	case *winHistoriesFlag != 0:
		count = *winHistoriesFlag
	case raceBuild:
		count = 6
	case testing.Short():
		count = 8
	}
	seconds := time.Duration(0)
	if s := os.Getenv(winSecondsVariable); s != "" {
		if _, err := fmt.Sscan(s, &seconds); err != nil {
			t.Fatalf("%s=%q is no number of seconds", winSecondsVariable, s)
		}
		seconds *= time.Second
	}
	first := uint64(1)
	switch {
	case *winHistoryFlag != 0:
		first = *winHistoryFlag
	case seconds > 0:
		first = rand.Uint64() >> 20
	}
	fabrics := mpitest.Fabrics()
	for _, fabric := range fabrics {
		if raceBuild && fabric == "shm" {
			continue // the detector does not see what processes agree on in memory that they map
		}
		places := []string{"00", "000", "00000"}
		switch fabric {
		case "tcp": // nobody shares memory
			places = []string{"01", "012", "01234"}
		case "shm":
			places = append(places, "0110", "001021") // everybody does with some
		case "inproc":
			places = append(places, "0110")
		}
		for i, at := range places {
			t.Run(fabric+"@"+at, func(t *testing.T) {
				end := time.Now().Add(seconds / time.Duration(len(places)))
				done := 0
				for seconds == 0 && done < count || seconds > 0 && time.Now().Before(end) {
					n := winBatch
					if seconds == 0 {
						n = min(n, count-done)
					}
					testOneSided(t, fabric, at, first+uint64(i*100_000+done), n)
					done += n
				}
				t.Logf("%d programs over %s@%s", done, fabric, at)
			})
		}
	}
}

// on is the name of a fabric with hosts for mpi.RunOver.
func on(fabric, places string) string {
	if fabric == "tcp" || strings.Trim(places, "0") == "" {
		return fabric
	}
	return fabric + "@" + places
}

func testOneSided(t *testing.T, fabric, places string, first uint64, count int) {
	t.Helper()
	programs := make([]*execution, count)
	for i := range programs {
		programs[i] = newOneSided(first+uint64(i), places).execution()
	}
	failed := struct {
		sync.Mutex
		at int // the first one: while rank 0 checks it, others may have begun the next one
	}{at: count}
	err := mpi.RunOver(on(fabric, places), len(places), func(world *mpi.Comm) error {
		for i, x := range programs {
			watch := time.AfterFunc(3*time.Minute, func() { panic("a program hangs; " + replayOneSided(fabric, places, x.seed) + "\n" + x.String()) })
			err := x.run(world)
			watch.Stop()
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
	p := programs[min(failed.at, count-1)].oneSided
	t.Errorf("%v\n%s", err, replayOneSided(fabric, places, p.seed))
	if err = p.runAlone(on(fabric, places)); err == nil {
		t.Fatalf("it takes the programs before it, or luck, to fail; it is\n%v", p)
	}
	p, err = shrinkOneSided(on(fabric, places), p, err)
	t.Fatalf("the shortest that fails: %v\n%v", err, p)
}

func replayOneSided(fabric, places string, seed uint64) string {
	return fmt.Sprintf("replay: go test ./mpi/histories -run 'TestWindowHistories/^%s@%s$' -winhistory %d -winhistories 1", fabric, places, seed)
}

// The generator makes all kinds of windows, epochs, operations and sides, and no program
// that is the same for another seed.
func TestWindowHistoriesHaveEverything(t *testing.T) {
	if raceBuild {
		t.Skip("there is one goroutine")
	}
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
