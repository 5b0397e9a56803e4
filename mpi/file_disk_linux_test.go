package mpi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// smallDisk mounts a file system of some KiB at a new folder.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("cannot mount a small tmpfs here:", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// IO-06: on a disk that fills up, an access writes what fits and is ErrNoSpace, with path and numbers; so is a
// collective one, at all members. What was written before is there, and the file can be used when there is
// room again.
func TestIO06_DiskThatFills(t *testing.T) {
	dir := smallDisk(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		path := filepath.Join(dir, "file")
		f := openFile(t, c, path, newFile, pairs(t, "romio_cb_write", "enable"))
		me := c.Rank()
		if me == 0 {
			kept := bytes.Repeat([]byte{7}, 20<<10)
			_, err := mpi.WriteAt(f, 0, kept)
			ok(t, err)
			st, err := mpi.WriteAt(f, 20<<10, make([]byte, 100<<10))
			wantClass(t, err, mpi.ErrNoSpace)
			if err == nil || !strings.Contains(err.Error(), "WriteAt on "+path+": write of ") || !strings.Contains(err.Error(), "at byte ") {
				t.Error(err)
			}
			if st.Bytes() <= 0 || st.Bytes() > 44<<10 {
				t.Errorf("wrote %d bytes", st.Bytes())
			}
			wantClass(t, f.Preallocate(1<<20), mpi.ErrNoSpace)
		} else {
			wantClass(t, f.Preallocate(1<<20), mpi.ErrNoSpace)
		}
		view := blocks(t, 100, 2)
		ok(t, f.SetView(32<<10+int64(100*me), typeOf[byte](), view, "native"))
		_, err := mpi.WriteAtAll(f, 0, make([]byte, 50<<10))
		wantClass(t, err, mpi.ErrNoSpace)
		ok(t, f.SetView(0, typeOf[byte](), typeOf[byte](), "native"))
		got := make([]byte, 20<<10)
		_, err = mpi.ReadAt(f, 0, got)
		ok(t, err)
		if !bytes.Equal(got, bytes.Repeat([]byte{7}, 20<<10)) {
			t.Error("what was written before has changed")
		}
		ok(t, f.SetSize(0))
		_, err = mpi.WriteAtAll(f, int64(5000*me), bytes.Repeat([]byte{byte(me)}, 5000))
		ok(t, err)
		ok(t, c.Barrier())
		if b := content(t, path); len(b) != 10000 || b[9999] != 1 {
			t.Errorf("%d bytes", len(b))
		}
		ok(t, f.Close())
		if me == 0 {
			ok(t, mpi.DeleteFile(c, path))
		}
	})
}

// IO-21: on a read-only file system, without permission, and in a folder that is gone, all members get the
// class of the error, and the path.
func TestIO21_WhereFilesCannotBeOpened(t *testing.T) {
	dir := smallDisk(t)
	ok(t, os.WriteFile(filepath.Join(dir, "file"), []byte("there"), 0o600))
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("cannot make a file system read-only here:", err)
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		refused := func(path string, mode mpi.FileMode, want mpi.Class) {
			t.Helper()
			_, err := mpi.OpenFile(c, path, mode)
			wantClass(t, err, want)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
		}
		refused(filepath.Join(dir, "new"), newFile, mpi.ErrReadOnly)
		refused(filepath.Join(dir, "file"), mpi.ModeReadWrite, mpi.ErrReadOnly)
		refused(filepath.Join(dir, "gone", "file"), newFile, mpi.ErrNoSuchFile)
		refused(filepath.Join(dir, "file", "file"), newFile, mpi.ErrBadFile)
		const attribute = "/sys/kernel/uevent_seqnum" // which nobody may write, not even root
		if _, err := os.Stat(attribute); err == nil {
			refused(attribute, mpi.ModeWriteOnly, mpi.ErrAccess)
		}
		f := openFile(t, c, filepath.Join(dir, "file"), mpi.ModeReadOnly)
		got := make([]byte, 5)
		_, err := mpi.ReadAt(f, 0, got)
		ok(t, err)
		if string(got) != "there" {
			t.Errorf("read %q", got)
		}
		ok(t, f.Close())
	})
}

// A folder that is removed while a file in it is open: accesses go on, a deletion at the end is
// ErrNoSuchFile at all members.
func TestIO21_FolderThatVanishes(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		if c.Rank() == 0 {
			ok(t, os.Mkdir(path, 0o700))
		}
		ok(t, c.Barrier())
		f := openFile(t, c, filepath.Join(path, "file"), newFile|mpi.ModeDeleteOnClose)
		_, err := mpi.WriteAt(f, int64(c.Rank()), []byte{byte('a' + c.Rank())})
		ok(t, err)
		ok(t, c.Barrier())
		if c.Rank() == 0 {
			ok(t, os.RemoveAll(path))
		}
		ok(t, f.Sync())
		got := make([]byte, 2)
		_, err = mpi.ReadAtAll(f, 0, got)
		ok(t, err)
		if string(got) != "ab" {
			t.Errorf("read %q", got)
		}
		err = f.Close()
		wantClass(t, err, mpi.ErrNoSuchFile)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
	})
}

// IO-06: beyond the limit of the process on the size of files (ulimit -f) a write is ErrQuota, after what
// fits; no signal ends the process. So is a collective one, at all members; the file can be used below the
// limit. The limit holds for the whole process, so it is far above what other files of it have, such as
// the log that go test keeps.
func TestIO06_LimitOfTheSizeOfFiles(t *testing.T) {
	const limit, room = 1 << 30, 100_000
	var old syscall.Rlimit
	ok(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	restore := func() { ok(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)) }
	t.Cleanup(restore)
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		if c.Rank() == 0 { // the ranks are one process; it has made what they share
			ok(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: old.Max}))
			defer restore()
		}
		ok(t, c.Barrier())
		f := openFile(t, c, path, newFile, pairs(t, "romio_cb_write", "enable"))
		st, err := mpi.WriteAt(f, limit-10, make([]byte, 100))
		wantClass(t, err, mpi.ErrQuota)
		if st.Bytes() != 10 || err == nil || !strings.Contains(err.Error(), "WriteAt on "+path) || !strings.Contains(err.Error(), "files of up to 1073741824 bytes (ulimit -f)") {
			t.Errorf("wrote %d bytes, %v", st.Bytes(), err)
		}
		wantClass(t, f.SetSize(limit+1), mpi.ErrQuota)
		wantClass(t, f.Preallocate(limit+1), mpi.ErrQuota)
		view := blocks(t, 1000, 2)
		ok(t, f.SetView(int64(limit-room+1000*c.Rank()), typeOf[byte](), view, "native"))
		_, err = mpi.WriteAtAll(f, 0, make([]byte, room))
		wantClass(t, err, mpi.ErrQuota)
		_, err = mpi.WriteAtAll(f, 0, make([]byte, room/2))
		ok(t, err)
		if n, err := f.Size(); n != limit || err != nil {
			t.Errorf("size %d, %v", n, err)
		}
		ok(t, f.Close())
	})
}
