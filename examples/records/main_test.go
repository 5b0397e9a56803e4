package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// read returns the records of a file.
func read(t *testing.T, path string) []record {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]record, len(data)/binary.Size(record{}))
	if _, err := binary.Decode(data, binary.NativeEndian, list); err != nil {
		t.Fatal(err)
	}
	return list
}

// In the end the log has the records of all ranks, each once, in the order of their keys; also if there
// are fewer than ranks, and over a longer file.
func TestLogIsSorted(t *testing.T) {
	for _, count := range []int{0, 1, 300} {
		for _, n := range []int{1, 2, 3, 5} {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, make([]byte, 50_000), 0o644); err != nil {
				t.Fatal(err)
			}
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				var out bytes.Buffer
				if err := run(world, count, 7, path, &out); err != nil {
					t.Errorf("%d records on %d ranks: %v", count, n, err)
				}
				want := fmt.Sprintf("%d records of %d ranks", count*n, n)
				if said := strings.Contains(out.String(), want); said != (world.Rank() == 0) {
					t.Errorf("%d records on %d ranks: rank %d printed %q", count, n, world.Rank(), &out)
				}
			})
			got := read(t, path)
			if len(got) != count*n || !slices.IsSortedFunc(got, compare) {
				t.Errorf("%d records on %d ranks: %d are in the log, sorted: %v", count, n, len(got), slices.IsSortedFunc(got, compare))
			}
			seen := map[[2]uint32]bool{}
			for _, r := range got {
				seen[[2]uint32{r.Rank, r.Number}] = int(r.Rank) < n && int(r.Number) < count
			}
			if len(seen) != count*n {
				t.Errorf("%d records on %d ranks: %d different ones", count, n, len(seen))
			}
		}
	}
}

// What is lost, changed or in the wrong order is found, also between the shares of two ranks.
func TestSummariesTellLogsApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		l, err := open(world, 0, path)
		if err != nil {
			t.Fatal(err)
		}
		list := []record{{Key: 1}, {Key: 3}, {Key: 2}, {Key: 4}} // the descent is between two shares
		if world.Rank() == 0 {
			if _, err := mpi.WriteAt(l.file, 0, list); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.settle(); err != nil {
			t.Fatal(err)
		}
		s, err := l.verify()
		if want := int64(world.Rank()); err != nil || s.count != 2 || s.descents != want {
			t.Errorf("rank %d: %+v, %v, want 2 records and %d descents", world.Rank(), s, err, want)
		}
		if err := l.file.Close(); err != nil {
			t.Fatal(err)
		}
	})
	var a, b, c summary
	a.add([]record{{Key: 1}, {Key: 2}})
	b.add([]record{{Key: 2}, {Key: 1}})
	c.add([]record{{Key: 1}, {Key: 2, Value: 0.5}})
	if a.hash != b.hash || b.descents != 1 || a.hash == c.hash {
		t.Errorf("%+v, in another order %+v, with another value %+v", a, b, c)
	}
}

// Mistakes are reported by rank 0 alone, and nothing is left of a temporary log.
func TestMistakesAndTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, c := range []struct {
		count int
		path  string
		want  string
	}{
		{-1, "", "-records is -1"},
		{1, filepath.Join(dir, "none", "log"), "no such file or directory (MPI_ERR_NO_SUCH_FILE)"},
		{1, "", ""},
	} {
		mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
			err := run(world, c.count, 1, c.path, io.Discard)
			fails := c.want != "" && world.Rank() == 0
			if (err != nil) != fails || fails && !strings.Contains(err.Error(), c.want) {
				t.Errorf("rank %d: %v, want %q on rank 0", world.Rank(), err, c.want)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
