package histories_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/file/filetest"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// filesBatch is the number of programs that one world runs.
const filesBatch = 20

// TestFileHistories is the metamorphic test of chapter 14: of IO-01, IO-02, IO-03,
// IO-04, IO-05, IO-06, IO-07, IO-08, IO-09, IO-10, IO-11, IO-14, IO-15, IO-16, IO-17, IO-18, IO-19, IO-20, IO-22, IO-23, X-IO-01 and
// DT-30. Random programs open a file several times, with views of all kinds, and access it by all
// families; an array of bytes is the oracle. A failure says how to replay it, and prints the shortest
// program that fails.
func TestFileHistories(t *testing.T) {
	count := 16
	switch {
	case testrun.Race:
		count = 5
	case testing.Short():
		count = 6
	}
	runAll(t, filePlacings(count), filesBatch, func(t *testing.T, s series) { runFiles(t, s, func(*mpi.Comm) {}) })
}

// The same programs with system calls that transfer less than they are asked for, of which nobody sees
// anything.
func TestFileHistoriesOfShortTransfers(t *testing.T) {
	count := 6
	if testrun.Race || testing.Short() {
		count = 2
	}
	type api interface {
		WrapFiles(c *mpi.Comm, wrap func(file.Store) file.Store)
	}
	runAll(t, filePlacings(count), filesBatch, func(t *testing.T, s series) {
		runFiles(t, s, func(world *mpi.Comm) {
			unexported.Get[api]().WrapFiles(world, (&filetest.Faults{Short: s.first + 1}).Wrap)
		})
	})
}

// filePlacings are the placings of ranks of histories of files.
func filePlacings(count int) (all []series) {
	for i, places := range []string{"0", "00", "000", "00000"} {
		all = append(all, onFabrics(places, 1+uint64(i*100_000), count)...)
	}
	if slices.Contains(mpitest.Fabrics(), "shm") {
		all = append(all, series{placing{"shm", "0110"}, 500_000, count})
	}
	return all
}

// runFiles runs programs. Each rank calls each first.
func runFiles(t *testing.T, s series, each func(world *mpi.Comm)) {
	dir := t.TempDir()
	programs := make([]*fileExecution, s.count)
	for i := range programs {
		p := newFileProgram(s.first+uint64(i), s.places)
		x, ok := p.execution(filepath.Join(dir, fmt.Sprint(i)))
		if !ok {
			t.Fatalf("the program of seed %d is not allowed:\n%v", p.seed, p)
		}
		programs[i] = x
	}
	var mu sync.Mutex
	failed := s.count
	err := mpitest.RunOver(s.over(), len(s.places), func(world *mpi.Comm) error {
		each(world)
		for i, x := range programs {
			stop := testrun.WatchFunc(func() string { return "a program hangs; " + s.replay(t, x.seed, 1) + "\n" + x.String() })
			err := x.run(world)
			stop()
			if err == nil && world.Rank() == 0 {
				err = x.check()
			}
			if err != nil {
				mu.Lock()
				failed = min(failed, i)
				mu.Unlock()
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	p := programs[min(failed, s.count-1)].fileProgram
	t.Errorf("%v\n%s", err, s.replay(t, p.seed, 1))
	run := func(fabric string, p *fileProgram) error { return p.runAlone(fabric, each) }
	err = run(s.over(), p)
	if err == nil {
		t.Fatalf("it takes the programs before it, or luck, to fail: %s\nit is\n%v", s.replay(t, s.first, failed+1), p)
	}
	p, err = shrinkFiles(s.over(), p, err, run)
	t.Fatalf("the shortest that fails: %v\n%v", err, p)
}

// The generator makes all families, views, handles and changes, and different programs for different
// seeds.
func TestFileHistoriesHaveEverything(t *testing.T) {
	testrun.PlainOnly(t, "there is one goroutine")
	seen, texts := map[string]int{}, map[string]bool{}
	const places = "000"
	for seed := range uint64(200) {
		p := newFileProgram(seed, places)
		if texts[p.String()] {
			t.Errorf("seed %d makes a program that another one has made", seed)
		}
		texts[p.String()] = true
		if seed%20 == 0 && p.String() != newFileProgram(seed, places).String() {
			t.Fatalf("seed %d makes two programs", seed)
		}
		plan, ok := p.follow()
		if !ok {
			t.Fatalf("the program of seed %d is not allowed:\n%v", seed, p)
		}
		for i, r := range p.rounds {
			for _, c := range r.changes {
				seen[fmt.Sprintf("change %d", c.do)]++
				for _, v := range c.views {
					seen["view "+repKind(v.rep)]++
					countCombiners(seen, v.filetype)
					seen[fmt.Sprintf("view without overlaps %v", v.apart)]++
				}
			}
			for _, s := range r.steps {
				seen[fmt.Sprintf("step %d", s.do)]++
			}
			for _, x := range plan.rounds[i] {
				seen[fmt.Sprintf("family %v, write %v", x.family, x.write)]++
				seen[fmt.Sprintf("handle %d, write %v", x.handle.on, x.write)]++
				seen[fmt.Sprintf("sequential %v, write %v", x.handle.sequential(), x.write)]++
				seen[fmt.Sprintf("atomic %v", x.atomic)]++
				seen[fmt.Sprintf("tangled %v, raced %v", x.tangled, x.raced)]++
				seen[fmt.Sprintf("empty %v", x.n == 0)]++
				seen[fmt.Sprintf("longer than a piece %v, blocks in memory %v", x.n > 256<<10, x.memory.spec.Combiner == dtype.CombinerResized)]++
				seen[fmt.Sprintf("%s, raw memory %v", repKind(x.view.rep), x.memory.id == 0)]++
				if x.at >= 0 && !x.write {
					seen[fmt.Sprintf("reads behind the end %v", within(x.runs, plan.sizes[i]) < x.n)]++
				}
			}
		}
	}
	want := []string{"view native", "view internal", "view external32", "view " + inverted, "view " + stamped, "sequential true, write true", "sequential true, write false", "view without overlaps false", "atomic true", "tangled true, raced false",
		"tangled true, raced true", "empty true", "longer than a piece true, blocks in memory true", "reads behind the end true", "native, raw memory false", "external32, raw memory false", "external32, raw memory true", "stamped, raw memory false"}
	for c := range changeKinds {
		if c != changeClose { // at the end of rounds
			want = append(want, fmt.Sprintf("change %d", c))
		}
	}
	for s := range stepKinds {
		want = append(want, fmt.Sprintf("step %d", s))
	}
	for f := range families {
		want = append(want, fmt.Sprintf("family %v, write true", f), fmt.Sprintf("family %v, write false", f))
	}
	for on := range handlesOn {
		want = append(want, fmt.Sprintf("handle %d, write true", on), fmt.Sprintf("handle %d, write false", on))
	}
	for _, combiner := range []string{"named", "vector", "struct", "subarray", "darray", "resized"} {
		want = append(want, "view of "+combiner)
	}
	for _, name := range want {
		if seen[name] < 5 {
			t.Errorf("%d times %s", seen[name], name)
		}
	}
}

func countCombiners(seen map[string]int, s *dtypetest.Spec) {
	seen["view of "+s.Combiner.String()]++
	for _, k := range s.Kids {
		countCombiners(seen, k)
	}
}
