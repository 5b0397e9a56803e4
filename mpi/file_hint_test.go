package mpi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// A collective access that is under way keeps the hints and the view of its call: members that are at
// different places when these change still agree on how it is made.
func TestIO01_HintsOfTheCall(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		n, me := c.Size(), c.Rank()
		view := blocks(t, 10, n)
		ok(t, f.SetView(int64(10*me), typeOf[byte](), view, "native"))
		mine := bytes.Repeat([]byte{byte('a' + me)}, 100)
		for i := range 4 {
			hints := []mpi.FileHint{pairs(t, "romio_cb_write", []string{"enable", "disable"}[i%2]), mpi.CbNodes(1 + i%n)}
			if me > 0 { // begins when rank 0 has other hints already
				_, err := mpi.Recv(c, []byte{0}, 0, 1)
				ok(t, err)
			}
			q := mpi.IwriteAtAll(f, int64(100*i), mine)
			if me == 0 {
				ok(t, f.SetInfo(hints...))
				ok(t, mpi.Send(c, []byte{0}, 1, 1))
				ok(t, mpi.Send(c, []byte{0}, 2, 1))
			}
			_, err := q.Wait()
			ok(t, err)
			if me > 0 {
				ok(t, f.SetInfo(hints...))
			}
		}
		ok(t, c.Barrier())
		for i, b := range content(t, path) {
			if want := byte('a' + i/10%n); b != want {
				t.Fatalf("byte %d is %c, want %c", i, b, want)
			}
		}
		ok(t, f.Close())
	})
}

// INF-04: members whose hints differ access a file together all the same: those of rank 0 count.
func TestIO01_HintsThatDiffer(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const size, count = 11, 2000
		for first := range n { // of the members with the hints of the first kind
			hints := []mpi.FileHint{mpi.CbNodes(n), mpi.CbBufferSize(1 << 20), pairs(t, "romio_cb_write", "disable", "romio_cb_read", "enable")}
			if me >= first {
				hints = []mpi.FileHint{mpi.CbNodes(1), mpi.CbBufferSize(4096), pairs(t, "romio_cb_write", "enable", "romio_cb_read", "disable")}
			}
			f := openFile(t, c, path, newFile, hints...)
			ok(t, f.SetView(int64(size*me), typeOf[byte](), blocks(t, size, n), "native"))
			mine, got := bytes.Repeat([]byte{byte(1 + me + 10*first)}, size*count), make([]byte, size*count)
			_, err := mpi.WriteAtAll(f, 0, mine)
			ok(t, err)
			_, err = mpi.ReadAtAll(f, 0, got)
			ok(t, err)
			if !bytes.Equal(got, mine) {
				t.Errorf("with other hints from rank %d on, rank %d reads what it has not written", first, me)
			}
			ok(t, f.Close())
		}
	})
}

// hintsOfFile fails the test unless Info of the file has the values of keys; "" stands for a key that it does not
// have.
func hintsOfFile(t testing.TB, f *mpi.File, want ...string) {
	t.Helper()
	got, err := f.Info()
	ok(t, err)
	for ; len(want) > 0; want = want[2:] {
		if v, found := got.Get(want[0]); v != want[1] || found != (want[1] != "") {
			t.Errorf("%s is %q, want %q", want[0], v, want[1])
		}
	}
}

// INF-02, INF-04, IO-23: keys of the standard, and of ROMIO, that describe storage, or a way of access that Halo
// does not have, are kept and returned, and change no byte; those whose values make no sense are ignored. The
// path is the key filename, and no program can set it.
func TestINF02_INF04_IO23_HintsThatAreKept(t *testing.T) {
	known := []string{"access_style", "read_once, random", "cb_block_size", "4096", "chunked", "100,200", "chunked_item", "8", "chunked_size", "10,20",
		"io_node_list", "a,b", "nb_proc", "4", "num_io_nodes", "2", "striping_factor", "3", "striping_unit", "65536",
		"cb_config_list", "*:1", "ind_wr_buffer_size", "1", "romio_ds_write", "enable", "romio_no_indep_rw", "true", "collective_buffering", "false"}
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, "nfs:"+path, newFile, pairs(t, append([]string{"filename", "other"}, known...)...))
		hintsOfFile(t, f, append([]string{"filename", path, "romio_cb_write", "enable", "romio_cb_read", "enable"}, known...)...)
		ok(t, f.SetView(int64(3*c.Rank()), typeOf[byte](), blocks(t, 3, 2), "native"))
		_, err := mpi.WriteAtAll(f, 0, []byte{1, 2, 3, 4, 5, 6})
		ok(t, err)
		ok(t, c.Barrier())
		if b := content(t, path); !bytes.Equal(b, []byte{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}) {
			t.Errorf("file %v", b)
		}
		ok(t, f.SetInfo(pairs(t, "access_style", "sometimes", "chunked", "1,x", "nb_proc", "0", "striping_unit", "-1", "io_node_list", "",
			"romio_ds_write", "perhaps", "romio_no_indep_rw", "1", "collective_buffering", "TRUE")))
		hintsOfFile(t, f, known...)
		ok(t, f.SetInfo(mpi.AccessStyle("sequential"), pairs(t, "romio_no_indep_rw", "false", "collective_buffering", "true", "romio_cb_read", "enable")))
		hintsOfFile(t, f, "access_style", "sequential", "collective_buffering", "true", "romio_cb_write", "automatic", "romio_cb_read", "enable")
		ok(t, f.Close())
		f = openFile(t, c, path, mpi.ModeReadOnly|mpi.ModeDeleteOnClose)
		hintsOfFile(t, f, "access_style", "", "striping_unit", "", "collective_buffering", "", "filename", path)
		ok(t, f.Close())
	})
}

// INF-04: the file that ROMIO_HINTS names has hints for all files; those of the program take precedence, and of
// equal keys the first. Lines that are no hint are ignored, and so is a file that does not exist.
func TestINF04_HintsOfTheEnvironment(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hints")
	ok(t, os.WriteFile(name, []byte("# cb_nodes 9\ncb_nodes 3\n\n cb_buffer_size\t65536 \nromio_cb_write enable now\nstriping_unit 512\ncb_nodes 2\nromio_ds_read\nfile_perm x\n"), 0o600))
	t.Setenv("ROMIO_HINTS", name)
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile, mpi.CbBufferSize(4096))
		hintsOfFile(t, f, "cb_nodes", "3", "cb_buffer_size", "4096", "romio_cb_write", "automatic", "romio_ds_read", "automatic", "striping_unit", "512", "file_perm", "666")
		ok(t, f.Close())
	})
	t.Setenv("ROMIO_HINTS", name+"-missing")
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		hintsOfFile(t, f, "cb_nodes", "0")
		ok(t, f.Close())
	})
}

// X-MEM-01: a file tells the kinds of memory that are supported, or that the program has asserted for it.
func TestXMEM01_KindsOfFiles(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		hintsOfFile(t, f, "mpi_memory_alloc_kinds", "mpi,system", "mpi_assert_memory_alloc_kinds", "")
		ok(t, f.SetInfo(mpi.AssertMemoryAllocKinds("system")))
		hintsOfFile(t, f, "mpi_memory_alloc_kinds", "system", "mpi_assert_memory_alloc_kinds", "system")
		ok(t, f.Close())
		f = openFile(t, c, path, newFile, pairs(t, "mpi_assert_memory_alloc_kinds", "mpi:alloc_mem"))
		hintsOfFile(t, f, "mpi_memory_alloc_kinds", "mpi:alloc_mem", "mpi_assert_memory_alloc_kinds", "mpi:alloc_mem")
		ok(t, f.SetInfo(mpi.AssertMemoryAllocKinds("cuda")))
		hintsOfFile(t, f, "mpi_assert_memory_alloc_kinds", "mpi:alloc_mem")
		ok(t, f.Close())
	})
}

// INF-04: every value of ROMIO's hints of ways of access comes back as it was given, when the file is opened and later;
// ROMIO also takes ENABLE for enable.
func TestINF04_ValuesOfROMIO(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		for _, key := range []string{"romio_ds_read", "romio_ds_write", "romio_cb_read", "romio_cb_write"} {
			for _, value := range []string{"enable", "disable", "automatic"} {
				f := openFile(t, c, path, newFile, pairs(t, key, value))
				hintsOfFile(t, f, key, value)
				ok(t, f.SetInfo(pairs(t, key, "disable")))
				hintsOfFile(t, f, key, "disable")
				ok(t, f.SetInfo(pairs(t, key, value)))
				ok(t, f.SetInfo(pairs(t, key, "perhaps")))
				hintsOfFile(t, f, key, value)
				ok(t, f.Close())
			}
		}
		f := openFile(t, c, path, newFile, pairs(t, "romio_ds_read", "ENABLE", "romio_cb_write", "DISABLE"))
		hintsOfFile(t, f, "romio_ds_read", "enable", "romio_cb_write", "disable")
		ok(t, f.Close())
	})
}
