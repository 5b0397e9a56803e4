package mpi_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// IO-07, X-IO-01: interleaved blocks beyond byte 2^41, in a file that is sparse before, are written and read by
// independent accesses and by aggregators, and the file has the size of the last one.
func TestIO07_XIO01_OffsetsBeyond40Bits(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const far, size, count = 1 << 41, 100, 50
		f := openFile(t, c, path, newFile)
		for i, choice := range []string{"enable", "disable"} {
			ok(t, f.SetView(int64(far+me*size), typeOf[byte](), blocks(t, size, n), "native", pairs(t, "romio_cb_write", choice, "romio_cb_read", choice)))
			mine := bytes.Repeat([]byte{byte(10*i + me + 1)}, size*count)
			_, err := mpi.WriteAtAll(f, size*7, mine)
			ok(t, err)
			ok(t, c.Barrier())
			got := make([]byte, size*count)
			st, err := mpi.ReadAtAll(f, size*7, got)
			ok(t, err)
			if st.Bytes() != size*count || !bytes.Equal(got, mine) {
				t.Errorf("%s: read %d bytes, %v ...", choice, st.Bytes(), got[:4])
			}
			if end, err := f.Size(); end != int64(far+size*n*(count+7)) || err != nil {
				t.Errorf("%s: the file has %d bytes, %v", choice, end, err)
			}
			ok(t, c.Barrier())
		}
		ok(t, f.Close())
	})
}

// IO-07: reads at the end of a sparse file of 100 GiB find zeros and the end, by aggregators and without.
func TestIO07_SparseFile(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const end, size = 100 << 30, 4096
		f := openFile(t, c, path, newFile)
		ok(t, f.SetSize(end))
		for _, choice := range []string{"enable", "disable"} {
			ok(t, f.SetView(int64(end-4*n*size+me*size), typeOf[byte](), blocks(t, size, n), "native", pairs(t, "romio_cb_read", choice)))
			got := bytes.Repeat([]byte{1}, 6*size)
			st, err := mpi.ReadAtAll(f, 0, got)
			ok(t, err)
			if st.Bytes() != 4*size || !bytes.Equal(got[:4*size], make([]byte, 4*size)) || got[4*size] != 1 {
				t.Errorf("%s: read %d bytes, want %d", choice, st.Bytes(), 4*size)
			}
		}
		ok(t, f.Close())
		if s, err := os.Stat(path); err != nil || s.Size() != end {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// Contiguous accesses at an offset and at the file pointers allocate nothing, in atomic mode neither.
func TestFileAccessesAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 100
	dir := t.TempDir()
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		f := openFile(t, c, dir+"/file", newFile)
		buf := make([]int32, 256)
		for name, access := range map[string]func() (mpi.Status, error){
			"WriteAt":     func() (mpi.Status, error) { return mpi.WriteAt(f, 12, buf) },
			"ReadAt":      func() (mpi.Status, error) { return mpi.ReadAt(f, 12, buf) },
			"Write":       func() (mpi.Status, error) { return mpi.Write(f, buf) },
			"Read":        func() (mpi.Status, error) { return mpi.Read(f, buf) },
			"WriteShared": func() (mpi.Status, error) { return mpi.WriteShared(f, buf) },
		} {
			for _, atomic := range []bool{false, true} {
				ok(t, f.SetAtomicity(atomic))
				if n := testing.AllocsPerRun(runs, func() {
					if _, err := access(); err != nil {
						t.Error(err)
					}
				}); n >= 1 {
					t.Errorf("%s, atomic mode %v: %v allocations", name, atomic, n)
				}
			}
		}
		ok(t, f.Close())
	})
}
