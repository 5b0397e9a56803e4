package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The file is that of one process byte by byte, for matrices of all proportions: also with ranks that have
// no element, with a block that is larger than the matrix, and over a longer file.
func TestFileIsTheSerialOne(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {1, 9, 2}, {7, 3, 1}, {13, 29, 4}, {30, 20, 64}} {
		rows, cols, block := size[0], size[1], size[2]
		serial := newPart(rows, cols, block, []int{1, 1}, 0)
		serial.fill()
		want := new(bytes.Buffer)
		if err := binary.Write(want, binary.NativeEndian, serial.cells); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 3, 4, 6} {
			path := filepath.Join(t.TempDir(), "matrix")
			if err := os.WriteFile(path, make([]byte, 10_000), 0o644); err != nil {
				t.Fatal(err)
			}
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				var out bytes.Buffer
				if err := run(world, rows, cols, block, path, &out); err != nil {
					t.Errorf("%v on %d ranks: %v", size, n, err)
				}
				if said := strings.Contains(out.String(), "verified\nwrote "+path); said != (world.Rank() == 0) {
					t.Errorf("%v on %d ranks: rank %d printed %q", size, n, world.Rank(), &out)
				}
			})
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%v on %d ranks: %v, %d bytes differ from the %d bytes of the serial file", size, n, err, len(got), want.Len())
			}
		}
	}
}

// Without -o nothing is left.
func TestTheTemporaryFileIsDeleted(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		if err := run(world, 8, 9, 2, "", io.Discard); err != nil {
			t.Error(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A number that is wrong in the file, and a file of another length, are found, and named.
func TestWrongFilesAreFound(t *testing.T) {
	p := newPart(3, 4, 1, []int{1, 1}, 0)
	p.fill()
	p.cells[2*4+1] = -1
	bad := new(bytes.Buffer)
	if err := binary.Write(bad, binary.NativeEndian, p.cells); err != nil {
		t.Fatal(err)
	}
	p.fill()
	good := new(bytes.Buffer)
	if err := binary.Write(good, binary.NativeEndian, p.cells); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "matrix")
	for _, c := range []struct {
		want string
		data []byte
	}{
		{"-1 in row 2, column 1", bad.Bytes()},
		{"row 2: unexpected EOF", good.Bytes()[:good.Len()-1]},
		{"longer than 3 x 4", append(good.Bytes(), 0)},
	} {
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := compare(path, 3, 4); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if n := p.wrong(); n == 0 { // it is not transposed
		t.Error("a matrix passes for its transposed one")
	}
}

// Mistakes are reported by rank 0 alone.
func TestMistakesAreReportedOnce(t *testing.T) {
	for _, c := range []struct {
		block int
		path  string
		want  string
	}{
		{0, "", "-block is 0"},
		{1, filepath.Join(t.TempDir(), "none", "matrix"), "no such file or directory (MPI_ERR_NO_SUCH_FILE)"},
	} {
		mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
			err := run(world, 2, 2, c.block, c.path, io.Discard)
			if (err != nil) != (world.Rank() == 0) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("rank %d: %v, want %q on rank 0", world.Rank(), err, c.want)
			}
		})
	}
}
