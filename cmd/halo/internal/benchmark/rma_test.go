package benchmark

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// lines runs a plan of one-sided communication and checks that every line is one object
// with exactly the documented fields.
func lines(t *testing.T, p Plan, want []string) []string {
	t.Helper()
	p.JSON = true
	out := run(t, 2, p)
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), out)
	}
	for i, w := range want {
		w = fmt.Sprintf(`{"bench":%q,"fabric":%q,"ranks":2,%s}`, p.Name, p.Fabric, w)
		pattern := strings.NewReplacer("F", `[0-9]+\.[0-9]+`, "N", `[0-9]+`, "{", `\{`, "}", `\}`).Replace(w)
		if !regexp.MustCompile("^" + pattern + "$").MatchString(got[i]) {
			t.Errorf("%s\nwant %s", got[i], w)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(got[i]), &object); err != nil {
			t.Errorf("%s: %v", got[i], err)
		}
	}
	return got
}

// Each benchmark of one-sided communication runs over each fabric; the loops themselves
// check the data of their operations.
func TestJSONOfOneSidedBenchmarks(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		for _, c := range []struct {
			plan Plan
			want []string
		}{
			{Plan{Name: "put", Sizes: []int{1, 5000}}, []string{
				`"win":"allocate","size":1,"us":F,"mbps":F,"mrate":N`, `"win":"allocate","size":5000,"us":F,"mbps":F,"mrate":N`}},
			{Plan{Name: "get", Sizes: []int{100}}, []string{`"win":"allocate","size":100,"us":F,"mbps":F,"mrate":N`}},
			{Plan{Name: "acc", Sizes: []int{8, 4096}, Types: []string{"float32", "int8"}}, []string{
				`"win":"allocate","type":"float32","size":8,"us":F`, `"win":"allocate","type":"float32","size":4096,"us":F`,
				`"win":"allocate","type":"int8","size":8,"us":F`, `"win":"allocate","type":"int8","size":4096,"us":F`}},
			{Plan{Name: "getacc", Sizes: []int{800}}, []string{`"win":"allocate","type":"float64","size":800,"us":F`}},
			{Plan{Name: "fop", Types: []string{"uint16", "float64"}}, []string{
				`"win":"allocate","type":"uint16","size":2,"us":F`, `"win":"allocate","type":"float64","size":8,"us":F`}},
			{Plan{Name: "cas", Types: []string{"int8", "int64"}}, []string{
				`"win":"allocate","type":"int8","size":1,"us":F`, `"win":"allocate","type":"int64","size":8,"us":F`}},
			{Plan{Name: "fence"}, []string{`"win":"allocate","size":8,"us":F`}},
			{Plan{Name: "pscw"}, []string{`"win":"allocate","size":8,"us":F`}},
			{Plan{Name: "lock"}, []string{`"win":"allocate","lock":"exclusive","size":8,"us":F`, `"win":"allocate","lock":"shared","size":8,"us":F`}},
			{Plan{Name: "lockget"}, []string{`"win":"allocate","lock":"exclusive","size":8,"us":F`, `"win":"allocate","lock":"shared","size":8,"us":F`}},
			{Plan{Name: "rput"}, []string{`"win":"allocate","size":8,"us":F`}},
			{Plan{Name: "mtflush", Workers: []int{1, 5}}, []string{`"win":"allocate","workers":1,"us":F,"mrate":N`, `"win":"allocate","workers":5,"us":F,"mrate":N`}},
			{Plan{Name: "mtflush", Workers: []int{3}, Scope: "thread"}, []string{`"win":"allocate","scope":"thread","workers":3,"us":F,"mrate":N`}},
			{Plan{Name: "mtflush", Workers: []int{2}, Order: true}, []string{`"win":"allocate","order":true,"workers":2,"us":F,"mrate":N`}},
			{Plan{Name: "mtflush", Workers: []int{3}, WorkerOp: "get"}, []string{`"win":"allocate","op":"get","workers":3,"us":F,"mrate":N`}},
			{Plan{Name: "mtflush", Workers: []int{3}, WorkerOp: "fop"}, []string{`"win":"allocate","op":"fop","workers":3,"us":F,"mrate":N`}},
			{Plan{Name: "mtflush", Workers: []int{3}, WorkerOp: "cas"}, []string{`"win":"allocate","op":"cas","workers":3,"us":F,"mrate":N`}},
		} {
			t.Run(c.plan.Name+"-"+fabric, func(t *testing.T) {
				c.plan.Fabric = fabric
				lines(t, c.plan, c.want)
			})
		}
	}
}

// Every benchmark that moves data runs with every kind of window.
func TestKindsOfWindows(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		kinds := windowKinds()
		if fabric == "tcp" {
			kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "shared" })
		}
		for _, name := range []string{"put", "fop"} {
			t.Run(name+"-"+fabric, func(t *testing.T) {
				end := map[string]string{"put": `"size":8,"us":F,"mbps":F,"mrate":N`, "fop": `"type":"int64","size":8,"us":F`}[name]
				var want []string
				for _, k := range kinds {
					want = append(want, fmt.Sprintf(`"win":%q,%s`, k, end))
				}
				lines(t, Plan{Name: name, Fabric: fabric, Sizes: []int{8}, Wins: kinds}, want)
			})
		}
	}
}

// No operation waits for the target, which computes until all operations are complete.
func TestPassiveTarget(t *testing.T) {
	busy := []int{1}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		busy = append(busy, n)
	}
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			p := Plan{Name: "passive", Fabric: fabric, Ops: 20, BusyMS: maxBusyMS, done: new(atomic.Bool)}
			if err := p.Check(2); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, kind := range p.Wins {
				for _, op := range []string{"put", "get", "acc", "fop"} {
					for _, k := range busy {
						want = append(want, fmt.Sprintf(`"win":%q,"op":%q,"busy":%d,"ops":N,"early":N,"busy_us":F,"attentive_us":F`, kind, op, k))
					}
				}
			}
			for _, l := range lines(t, p, want) {
				var cell struct{ Ops, Early int }
				if err := json.Unmarshal([]byte(l), &cell); err != nil {
					t.Fatal(err)
				}
				if cell.Early != cell.Ops || cell.Ops < 1 || cell.Ops > 20 {
					t.Errorf("%s: operations wait for a busy target", l)
				}
			}
		})
	}
}

// The loops detect memory that differs from the data that was put, got or summed.
func TestOneSidedLoopsLookAtTheMemory(t *testing.T) {
	for _, name := range []string{"put", "get", "acc", "fop", "cas", "mtflush", "mtflush get", "mtflush fop", "mtflush cas"} {
		name, op, _ := strings.Cut(name, " ")
		err := mpi.Run(2, func(world *mpi.Comm) error {
			p := &Plan{Name: name, Fabric: "inproc", WorkerOp: op}
			if err := p.Check(2); err != nil {
				return err
			}
			o := &onesided{world: world, rank: world.Rank(), plan: p, size: 8, workers: 3,
				send: make([]byte, maxWorkers*cell), recv: make([]byte, maxWorkers*cell), kind: "allocate"}
			if err := o.open(maxWorkers * cell); err != nil {
				return err
			}
			body := o.putFlush
			switch name {
			case "get":
				body = o.getFlush
			case "mtflush":
				body = o.inWorkers
			case "acc", "fop", "cas":
				o.elements = elementsOf[int64](o)
				body = o.elements.accumulate
				if name != "acc" {
					body, _ = o.typedLoop(o.elements)
				}
			}
			if err := o.prepare(name == "get"); err != nil {
				return err
			}
			if err := o.win.Lock(mpi.LockShared, 1, 0); err != nil {
				return err
			}
			if err := body(3); err != nil {
				return err
			}
			if err := o.inspect(name); err != nil {
				return fmt.Errorf("right memory: %w", err)
			}
			at := 0
			if name == "mtflush" {
				at = 2 * cell
			}
			o.recv[at] ^= 1
			if o.rank == 1 {
				o.mem[at] ^= 1
			}
			if err := o.inspect(name); err == nil || !strings.Contains(err.Error(), "1 are wrong") {
				return fmt.Errorf("one wrong byte: %v", err)
			}
			if err := o.win.Unlock(1); err != nil {
				return err
			}
			return o.close()
		})
		if err != nil {
			t.Errorf("%s %s: %v", name, op, err)
		}
	}
}
