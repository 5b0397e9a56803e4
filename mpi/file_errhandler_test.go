package mpi_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// ERR-13, ERR-02: a file has an error handler, at first ErrorsReturn; a handler that was set is called
// once with the file and the error that the call returns. Handlers of other objects are refused.
func TestERR13_ERR02_HandlersOfFiles(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		h, err := f.Errhandler()
		ok(t, err)
		if h != mpi.ErrorsReturn {
			t.Errorf("handler %v", h)
		}
		var seen []error
		mine := mpi.CreateFileErrhandler(func(on *mpi.File, err *mpi.Error) {
			if on != f {
				t.Errorf("called with %p, not %p", on, f)
			}
			seen = append(seen, err)
		})
		ok(t, f.SetErrhandler(mine))
		if h, err := f.Errhandler(); h != mine || err != nil {
			t.Errorf("handler %v, %v", h, err)
		}
		_, err = mpi.ReadAt(f, -3, []byte{0})
		wantClass(t, err, mpi.ErrArg)
		q := mpi.IwriteAt(f, -3, []byte{0})
		_, started := q.Wait()
		wantClass(t, started, mpi.ErrArg)
		if len(seen) != 2 || seen[0] != err || seen[1] != started {
			t.Errorf("seen %v", seen)
		}
		err = f.CallErrhandler(mpi.ErrIO)
		wantClass(t, err, mpi.ErrIO)
		if len(seen) != 3 || !errors.Is(seen[2], mpi.ErrIO) {
			t.Errorf("seen %v", seen)
		}
		wantClass(t, f.SetErrhandler(mpi.CreateWinErrhandler(func(*mpi.Window, *mpi.Error) {})), mpi.ErrErrhandler)
		wantClass(t, c.SetErrhandler(mine), mpi.ErrErrhandler)
		ok(t, f.SetErrhandler(mpi.ErrorsReturn))
		ok(t, f.Close())
	})
}

// ERR-13: errors without a file go to the default handler of files, which new files get.
func TestERR13_DefaultHandler(t *testing.T) {
	dir := t.TempDir()
	defer func() { ok(t, mpi.SetDefaultFileErrhandler(mpi.ErrorsReturn)) }()
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		calls := 0
		mine := mpi.CreateFileErrhandler(func(on *mpi.File, err *mpi.Error) {
			calls++
			if calls < 3 && on != nil {
				t.Errorf("called with file %v", on)
			}
		})
		ok(t, mpi.SetDefaultFileErrhandler(mine))
		if mpi.DefaultFileErrhandler() != mine {
			t.Error("another handler")
		}
		_, err := mpi.OpenFile(c, filepath.Join(dir, "missing"), mpi.ModeReadOnly)
		wantClass(t, err, mpi.ErrNoSuchFile)
		wantClass(t, mpi.DeleteFile(c, filepath.Join(dir, "missing")), mpi.ErrNoSuchFile)
		f := openFile(t, c, filepath.Join(dir, "new"), newFile)
		_, err = mpi.ReadAt(f, -3, []byte{0})
		wantClass(t, err, mpi.ErrArg)
		if calls != 3 {
			t.Errorf("%d calls", calls)
		}
		ok(t, f.Close())
		wantClass(t, mpi.SetDefaultFileErrhandler(mpi.Errhandler{}), mpi.ErrErrhandler)
		wantClass(t, mpi.SetDefaultFileErrhandler(mpi.CreateCommErrhandler(func(*mpi.Comm, *mpi.Error) {})), mpi.ErrErrhandler)
	})
}

// INF-02, INF-03, INF-04, INF-07: hints of files are kept and returned, unknown ones and invalid values
// are ignored, and an Info may be changed after the call.
func TestINF03_INF04_INF07_HintsOfFiles(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		info := pairs(t, "cb_nodes", "3", "cb_buffer_size", "65536", "romio_cb_write", "enable", "romio_ds_read", "disable",
			"zzz", "1", "ind_rd_buffer_size", "x", "file_perm", "0600")
		f := openFile(t, c, path, newFile, info)
		ok(t, info.Set("cb_nodes", "7"))
		wants := func(want ...string) {
			t.Helper()
			got, err := f.Info()
			ok(t, err)
			for ; len(want) > 0; want = want[2:] {
				if v, found := got.Get(want[0]); v != want[1] || found != (want[1] != "") {
					t.Errorf("%s is %q, want %q", want[0], v, want[1])
				}
			}
		}
		wants("cb_nodes", "3", "cb_buffer_size", "65536", "romio_cb_write", "enable", "romio_cb_read", "automatic", "romio_ds_read", "disable",
			"ind_rd_buffer_size", "4194304", "zzz", "", "file_perm", "600")
		ok(t, f.SetInfo(mpi.CbNodes(2), pairs(t, "romio_cb_read", "disable"), nil))
		wants("cb_nodes", "2", "romio_cb_read", "disable")
		ok(t, f.SetView(0, typeOf[byte](), typeOf[byte](), "native", mpi.CbBufferSize(4096)))
		wants("cb_buffer_size", "4096")
		ok(t, f.Close())
	})
}

// CST-08: constants of files have the values of the standard ABI, and modes are different bits.
func TestCST08_ConstantsOfFiles(t *testing.T) {
	sum := mpi.FileMode(0)
	for i, m := range []mpi.FileMode{mpi.ModeAppend, mpi.ModeCreate, mpi.ModeDeleteOnClose, mpi.ModeExcl, mpi.ModeReadOnly,
		mpi.ModeReadWrite, mpi.ModeSequential, mpi.ModeUniqueOpen, mpi.ModeWriteOnly} {
		if m != 1<<i {
			t.Errorf("mode %v is %d", m, int(m))
		}
		sum |= m
	}
	if sum != 511 || mpi.SeekCur != 401 || mpi.SeekEnd != 402 || mpi.SeekSet != 403 || mpi.DisplacementCurrent != -1 || mpi.MaxDatarepString != 127 {
		t.Error("a constant has another value")
	}
	if s := (mpi.ModeCreate | mpi.ModeReadWrite).String(); s != "MPI_MODE_CREATE|MPI_MODE_RDWR" {
		t.Errorf("mode is called %s", s)
	}
}
