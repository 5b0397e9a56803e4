package mpi_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-SES-01, IO-21: a communicator of a session has files, also when the world model has ended; a session with an open
// file cannot be finalized, and remains as it was.
func TestXSES01_IO21_FilesOfSessions(t *testing.T) {
	dir := t.TempDir()
	everywhere(t, 2, []string{"shm@01"}, func(t testing.TB, p *mpitest.Process) {
		path := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
		_, err := p.Init()
		ok(t, err)
		s := opened(t, p)
		c := commOf(t, s, mpi.PsetWorld)
		f := openFile(t, c, path, newFile)
		ok(t, p.Finalize())
		_, err = mpi.WriteOrdered(f, []byte{byte('a' + c.Rank())})
		ok(t, err)
		err = s.Finalize()
		wantClass(t, err, mpi.ErrPending)
		if err == nil || !strings.Contains(err.Error(), "file "+path+" is open") {
			t.Error(err)
		}
		_, err = mpi.WriteAtAll(f, int64(2+c.Rank()), []byte{byte('c' + c.Rank())})
		ok(t, err)
		ok(t, c.Barrier())
		if b := content(t, path); string(b) != "abcd" {
			t.Errorf("file %q", b)
		}
		ok(t, f.Close())
		ok(t, s.Finalize())
		_, err = mpi.WriteAt(f, 0, []byte{1})
		wantClass(t, err, mpi.ErrFile)
	})
}

// In checking mode Finalize of the world model names a file that is open, and where it was opened; it succeeds when
// the file is closed. Callbacks of attributes of Self may close files: they are called before.
func TestIO21_FilesAreClosedBeforeFinalize(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	dir := t.TempDir()
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		path := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
		world, err := p.Init()
		ok(t, err)
		f, g := openFile(t, world, path, newFile), openFile(t, world.Self(), path, newFile)
		key := mpi.CreateKeyval(nil, func(c *mpi.Comm, v *mpi.File) error { return v.Close() })
		ok(t, mpi.SetAttr(world.Self(), key, g))
		err = p.Finalize()
		wantClass(t, err, mpi.ErrPending)
		if err == nil || !strings.Contains(err.Error(), "file "+path+" is open") || !strings.Contains(err.Error(), "file_test.go:") {
			t.Error(err)
		}
		ok(t, f.Close())
		ok(t, p.Finalize())
	})
}
