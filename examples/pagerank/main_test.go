package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// random is a graph in which some vertices have no edges, and few have many.
func random(n, edges int) string {
	r := rand.New(rand.NewPCG(uint64(n), uint64(edges)))
	var b strings.Builder
	for range edges {
		fmt.Fprintf(&b, "v%d v%d\n", r.IntN(n), min(r.IntN(n), r.IntN(n), r.IntN(n)))
	}
	return b.String()
}

// pageRank is the definition in floating-point numbers, by the matrix.
func pageRank(g graph) []float64 {
	n := len(g.names)
	ranks := make([]float64, n)
	for v := range ranks {
		ranks[v] = 1 / float64(n)
	}
	for range 300 {
		next := make([]float64, n)
		for v, rank := range ranks {
			to := g.to[g.first[v]:g.first[v+1]]
			for u := range next {
				link := 0.0
				switch {
				case len(to) == 0:
					link = 1 / float64(n)
				case slices.Contains(to, u):
					link = 1 / float64(len(to))
				}
				next[u] += rank * (0.85*link + 0.15/float64(n))
			}
		}
		ranks = next
	}
	return ranks
}

func TestSerialRanksAreThoseOfTheDefinition(t *testing.T) {
	for _, text := range []string{"a b", "a b\nb c\nc a", "a b\na c\nb c\nd c\nc a", random(30, 100), ownGraph} {
		g, err := read("test", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := serial(g, 400)
		for v, want := range pageRank(g) {
			if rank := float64(got[v]) / total; math.Abs(rank-want) > 1e-9 {
				t.Errorf("%d vertices: rank of %s is %v, want %v", len(g.names), g.names[v], rank, want)
			}
		}
	}
}

// The program compares the ranks with the serial ones itself; here, that it does so on
// any number of ranks, more than there are vertices too, and prints what the serial run
// would.
func TestAnyNumberOfRanksGivesTheSerialResult(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{"one two", random(3, 9), random(100, 700), random(500, 400), ownGraph} {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := load(file)
		if err != nil {
			t.Fatal(err)
		}
		ranks, steps := serial(g, 400)
		var want bytes.Buffer
		report(&want, g, ranks, 7)
		fmt.Fprintf(&want, "%d vertices, %d edges: %d steps on ", len(g.names), len(g.to), steps)
		for n := 1; n <= 5; n++ {
			for _, fabric := range mpitest.Fabrics() {
				var out bytes.Buffer // written by rank 0 only
				err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error { return run(world, []string{"-top", "7", file}, &out) })
				if err != nil {
					t.Errorf("graph %d on %d ranks over %s: %v", i, n, fabric, err)
				} else if !strings.HasPrefix(out.String(), want.String()) {
					t.Errorf("graph %d on %d ranks over %s printed\n%swant\n%s", i, n, fabric, &out, &want)
				}
			}
		}
	}
}

// TestWhatIsWrongIsFound: the comparison with the serial run can fail.
func TestWhatIsWrongIsFound(t *testing.T) {
	g, err := read("test", strings.NewReader("a b\nb c"))
	if err != nil {
		t.Fatal(err)
	}
	right, steps := serial(g, 400)
	wrong := slices.Clone(right)
	wrong[1]++
	if err := same(g, wrong, right, steps, steps); err == nil || !strings.Contains(err.Error(), "the rank of b is") {
		t.Errorf("a rank is wrong: %v", err)
	}
	if err := same(g, right, right, steps+1, steps); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("a step too many: %v", err)
	}
}

// edges lists those of a graph by names.
func edges(g graph) (all []string) {
	for v, name := range g.names {
		for _, u := range g.to[g.first[v]:g.first[v+1]] {
			all = append(all, name+" "+g.names[u])
		}
	}
	return all
}

func TestReadsPackagesAndEdges(t *testing.T) {
	const database = `Package: app
Status: install ok installed
Pre-Depends: libc6 (>= 2.14)
Depends: libfoo1 (>= 1.0) | libbar1, mail-agent,
 ignored
Description: an application
 Depends: nothing

Package: libc6
Status: install ok installed

Package: libbar1
Status: install ok installed
Depends: libc6:any, app, libbar1, libc6

Package: gone
Status: deinstall ok config-files
Depends: libc6

Package: postfix
Status: install ok installed
Provides: mail-agent (= 3), other
Depends: gone`
	g, err := read("test", strings.NewReader(database))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"app libbar1", "app postfix", "app libc6", "libbar1 libc6", "libbar1 app"}
	if got := edges(g); !sameSet(got, want) || len(g.names) != 4 {
		t.Errorf("edges of a database are %q between %q, want %q", got, g.names, want)
	}
	g, err = read("test", strings.NewReader("# a graph\na b\n\n b  c # and on\na b\nc c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edges(g), []string{"a b", "b c"}; !sameSet(got, want) || len(g.names) != 3 {
		t.Errorf("edges of a list are %q, want %q", got, want)
	}
	if g, err := read("test", strings.NewReader("")); err != nil || len(g.names) != 0 {
		t.Errorf("an empty file has %d vertices, %v", len(g.names), err)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestBadInputSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("a b\na b c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no such file", []string{filepath.Join(dir, "none")}},
		{"bad: line 2 has 3 names", []string{bad}},
		{"-top is -1", []string{"-top", "-1"}},
		{"-steps is -3", []string{"-steps", "-3"}},
		{"one graph at a time", []string{bad, bad}},
		{"not defined: -x", []string{"-x"}},
		{"is a directory", []string{dir}},
	} {
		err := mpi.Run(1, func(world *mpi.Comm) error { return run(world, c.args, &bytes.Buffer{}) })
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "pagerank: ") {
			t.Errorf("%q: error %v, want %q in it", c.args, err, c.want)
		}
	}
}

// What ends early ends on all ranks: help, a graph of nothing, no steps.
func TestRanksEndTogether(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"-help"}, usage}, {[]string{empty}, ""}} {
		var out bytes.Buffer
		if err := mpi.Run(3, func(world *mpi.Comm) error { return run(world, c.args, &out) }); err != nil || out.String() != c.want {
			t.Errorf("%q: %v, %q", c.args, err, &out)
		}
	}
	var out bytes.Buffer
	if err := mpi.Run(3, func(world *mpi.Comm) error { return run(world, []string{"-steps", "0", "-top", "0"}, &out) }); err != nil ||
		!strings.Contains(out.String(), ": 0 steps on 3 ranks") {
		t.Errorf("no steps: %v, %q", err, &out)
	}
}
