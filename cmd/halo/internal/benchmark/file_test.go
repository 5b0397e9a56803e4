package benchmark

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Every file benchmark prints a line for each of its loops, and leaves no file.
func TestFileBenchmarksPrintALineForEachLoop(t *testing.T) {
	arrays := []string{}
	for _, d := range []string{"3-D", "4-D"} {
		for _, what := range []string{"write", "write alone", "write by hand", "read", "read alone", "read by hand"} {
			arrays = append(arrays, d+" "+what)
		}
	}
	for _, c := range []struct {
		name string
		size int
		want []string
	}{
		{"file-at", 1000, []string{"write", "write by hand", "read", "read by hand"}},
		{"file-rows", 8, []string{"contiguous", "rows", "rows by hand"}},
		{"file-gap", 2048, []string{"contiguous", "gap"}},
		{"file-array", 8, arrays},
		{"file-blocks", 16, []string{"write", "read"}},
		{"file-strided", 4, []string{"read"}},
		{"file-shared", 100, []string{"write"}},
		{"file-overlap", 1 << 16, []string{"write", "compute", "both"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out := run(t, 2, Plan{Name: c.name, Fabric: mpitest.Fabrics()[0], Sizes: []int{c.size}, JSON: true, Dir: dir})
			var got []string
			for line := range strings.Lines(out) {
				var l struct {
					Bench, Layout string
					Size          int
					US            float64
				}
				if err := json.Unmarshal([]byte(line), &l); err != nil || l.Bench != c.name || l.Size != c.size || l.US <= 0 {
					t.Errorf("line %s: %v", line, err)
				}
				got = append(got, strings.TrimSuffix(l.Layout, " in "+dir))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("loops %q, want %q", got, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left in the directory: %v, %v", left, err)
			}
		})
	}
}

// What is written by hand is the same file as what is written collectively, and both ways to read
// return it.
func TestArrayByHandIsTheSameFile(t *testing.T) {
	dir := t.TempDir()
	err := mpitest.RunOver(mpitest.Fabrics()[0], 4, func(world *mpi.Comm) error {
		x := &files{world: world, size: 8}
		if err := x.open(dir, "array"); err != nil {
			return err
		}
		loops, err := x.arrays()
		if err != nil {
			return err
		}
		for i := 0; i < len(loops); i += 6 {
			a := loops[i].array
			for k := range a.mem {
				a.mem[k] = byte(251*world.Rank() + k*k + i)
			}
			mine := slices.Clone(a.mem)
			var before []byte
			for k, l := range loops[i : i+3] { // write, alone, by hand
				if err := l.body(1); err != nil {
					return err
				}
				now, err := os.ReadFile(filepath.Join(dir, x.name))
				if err != nil {
					return err
				}
				if len(now) != bytesOf(a.dims) || k > 0 && !bytes.Equal(now, before) {
					t.Errorf("after %s the file is another one, of %d bytes", l.name, len(now))
				}
				before = now
				if err := world.Barrier(); err != nil {
					return err
				}
				if err := x.f.SetSize(0); err != nil {
					return err
				}
			}
			if err := loops[i].body(1); err != nil {
				return err
			}
			for _, l := range loops[i+3 : i+6] {
				clear(a.mem)
				if err := l.body(1); err != nil {
					return err
				}
				if !bytes.Equal(a.mem, mine) {
					t.Errorf("%s returns other data", l.name)
				}
			}
		}
		return x.close()
	})
	if err != nil {
		t.Error(err)
	}
}
