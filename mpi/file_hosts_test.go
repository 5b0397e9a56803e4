package mpi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// IO-01, X-IO-01: members on several hosts, whose ranks do not follow each other, write and read one file together:
// through aggregators and without, at the shared pointer, in order, and in atomic mode. IO-21: members whose files
// differ, though each has one of that name, get ErrNotSame; another name of the same file is no difference.
func TestIO01_XIO01_IO21_FilesOverHosts(t *testing.T) {
	dir := t.TempDir()
	overHosts(t, 4, func(t testing.TB, c *mpi.Comm) {
		path := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
		n, me := c.Size(), c.Rank()
		f := openFile(t, c, path, newFile, mpi.CbBufferSize(500))
		const size, count = 7, 60
		mine := bytes.Repeat([]byte{byte('a' + me)}, size*count)
		for _, choice := range []string{"enable", "disable", "automatic"} {
			ok(t, f.SetSize(0))
			ok(t, f.SetView(int64(size*me), mpi.Byte(), blocks(t, size, n), "native", pairs(t, "romio_cb_write", choice, "romio_cb_read", choice)))
			_, err := mpi.WriteAtAll(f, 0, mine)
			ok(t, err)
			ok(t, f.Sync())
			got := make([]byte, len(mine))
			_, err = mpi.ReadAtAll(f, 0, got)
			ok(t, err)
			if !bytes.Equal(got, mine) {
				t.Errorf("%s: rank %d reads what it has not written", choice, me)
			}
			for i, b := range content(t, path) {
				if want := byte('a' + i/size%n); b != want {
					t.Fatalf("%s: byte %d is %c, want %c", choice, i, b, want)
				}
			}
			ok(t, c.Barrier())
		}
		ok(t, f.SetView(0, mpi.Byte(), mpi.Byte(), "native"))
		ok(t, f.SetSize(0))
		ok(t, f.SetAtomicity(true))
		_, err := mpi.WriteOrdered(f, mine[:me+1])
		ok(t, err)
		for range 5 {
			_, err = mpi.WriteShared(f, mine[:1])
			ok(t, err)
		}
		ok(t, c.Barrier())
		if b := content(t, path); string(b[:10]) != "abbcccdddd" || len(b) != 30 || bytes.Count(b, []byte{'d'}) != 4+5 {
			t.Errorf("file %q", b)
		}
		ok(t, f.Close())

		if me == 0 {
			ok(t, os.Link(path, path+"-again"))
			ok(t, os.WriteFile(path+"-other", nil, 0o600))
		}
		ok(t, c.Barrier())
		names := []string{path, path, path + "-again", path}
		f = openFile(t, c, names[me], mpi.ModeReadOnly)
		ok(t, f.Close())
		if me == 3 {
			names[3] += "-other"
		}
		_, err = mpi.OpenFile(c, names[me], mpi.ModeReadOnly)
		wantClass(t, err, mpi.ErrNotSame)
		if err == nil || !slices.ContainsFunc([]string{"rank 0 has file number", "their hosts do not share it"}, func(w string) bool { return strings.Contains(err.Error(), w) }) {
			t.Error(err)
		}
	})
}
