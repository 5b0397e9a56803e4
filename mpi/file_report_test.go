package mpi_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// In a verbose job a file says which way accesses take (IO-01).
func TestIO01_ChoicesOfVerboseJobs(t *testing.T) {
	t.Setenv("HALO_VERBOSE", "1")
	path := filepath.Join(t.TempDir(), "file")
	read, write, err := os.Pipe()
	ok(t, err)
	stderr := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = stderr }()
	mpitest.On(t, mpitest.Fabrics()[0], 2, func(t testing.TB, c *mpi.Comm) {
		f := openFile(t, c, path, newFile)
		for range 3 {
			_, err := mpi.WriteAtAll(f, int64(10*c.Rank()), make([]byte, 10))
			ok(t, err)
		}
		ok(t, f.Close())
	})
	os.Stderr = stderr
	ok(t, write.Close())
	got, err := io.ReadAll(read)
	ok(t, err)
	if want := "halo: " + path + ": collective writes are made by each member for itself: the parts of members do not interleave\n"; string(got) != want {
		t.Errorf("the file says %q, want %q", got, want)
	}
}
