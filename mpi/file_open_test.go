package mpi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// IO-21: modes of OpenFile, and errors of all members if one cannot open the file.
func TestIO21_Modes(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		cannot := func(class mpi.Class, path string, mode mpi.FileMode, says string) {
			t.Helper()
			f, err := mpi.OpenFile(c, path, mode)
			wantClass(t, err, class)
			if f != nil || err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "OpenFile on "+path) {
				t.Errorf("mode %v: %v", mode, err)
			}
		}
		cannot(mpi.ErrNoSuchFile, path, mpi.ModeReadOnly, "no such file")
		cannot(mpi.ErrAmode, path, mpi.ModeCreate, "has 0 of")
		cannot(mpi.ErrAmode, path, mpi.ModeReadOnly|mpi.ModeWriteOnly, "has 2 of")
		cannot(mpi.ErrAmode, path, mpi.ModeReadOnly|mpi.ModeCreate, "cannot be created")
		cannot(mpi.ErrAmode, path, mpi.ModeReadOnly|mpi.ModeExcl, "cannot be created")
		cannot(mpi.ErrAmode, path, mpi.ModeReadWrite|mpi.ModeSequential, "sequential")
		cannot(mpi.ErrAmode, path, mpi.ModeReadOnly|1<<20, "no mode")
		cannot(mpi.ErrNoSuchFile, path+"/x", mpi.ModeCreate|mpi.ModeReadWrite, "no such file")
		f := openFile(t, c, "ufs:"+path, mpi.ModeCreate|mpi.ModeExcl|mpi.ModeWriteOnly, mpi.FilePerm(0o640))
		if f.Path() != path || f.Mode() != mpi.ModeCreate|mpi.ModeExcl|mpi.ModeWriteOnly {
			t.Errorf("path %s, mode %v", f.Path(), f.Mode())
		}
		_, err := mpi.ReadAt(f, 0, []byte{0})
		wantClass(t, err, mpi.ErrAccess)
		if c.Rank() == 1 {
			_, err = mpi.WriteAt(f, 0, []byte("abc"))
			ok(t, err)
		}
		ok(t, f.Close())
		cannot(mpi.ErrFileExists, path, mpi.ModeCreate|mpi.ModeExcl|mpi.ModeWriteOnly, "exists")
		cannot(mpi.ErrBadFile, filepath.Dir(path), mpi.ModeReadWrite, "directory")
		if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o640 {
			t.Errorf("permissions %v, %v", i.Mode(), err)
		}
		f = openFile(t, c, path, mpi.ModeAppend|mpi.ModeReadWrite|mpi.ModeDeleteOnClose)
		at, err := f.Position()
		ok(t, err)
		if at != 3 {
			t.Errorf("appending begins at %d", at)
		}
		g, err := f.Group()
		ok(t, err)
		if g.Size() != 2 {
			t.Errorf("group of %d", g.Size())
		}
		ok(t, f.Close())
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the file exists after close: %v", err)
		}
		wantClass(t, mpi.DeleteFile(c, path), mpi.ErrNoSuchFile)
		ok(t, c.Barrier())
		if c.Rank() == 0 {
			ok(t, os.WriteFile(path, nil, 0o600))
			ok(t, mpi.DeleteFile(c, path))
		}
	})
}

// Members that open different files, or in different modes, all get ErrNotSame; the message names the
// ranks and what they have. A member with an error of its own tells the others.
func TestIO21_MembersMustAgree(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		me := c.Rank()
		mode := newFile
		if me == 2 {
			mode |= mpi.ModeAppend
		}
		_, err := mpi.OpenFile(c, path, mode)
		wantClass(t, err, mpi.ErrNotSame)
		if err == nil || !strings.Contains(err.Error(), "rank 0 has access mode MPI_MODE_CREATE|MPI_MODE_RDWR, rank 2 has access mode MPI_MODE_APPEND|") {
			t.Error(err)
		}
		name := path
		if me == 1 {
			name += "-other"
			ok(t, os.WriteFile(name, nil, 0o600))
		}
		_, err = mpi.OpenFile(c, name, newFile)
		wantClass(t, err, mpi.ErrNotSame)
		if err == nil || !strings.Contains(err.Error(), "file number") {
			t.Error(err)
		}
		mode = newFile
		if me == 1 {
			mode = mpi.ModeCreate
		}
		_, err = mpi.OpenFile(c, path, mode)
		wantClass(t, err, mpi.ErrAmode)
		if me != 1 && (err == nil || !strings.Contains(err.Error(), "rank 1: ")) {
			t.Error(err)
		}
		f := openFile(t, c, path, newFile)
		etype, representation := typeOf[byte](), "native"
		if me == 1 {
			etype = typeOf[int64]()
		}
		wantClass(t, f.SetView(0, etype, etype, "native"), mpi.ErrNotSame)
		if me == 1 {
			representation = "internal"
		}
		wantClass(t, f.SetView(0, typeOf[byte](), typeOf[byte](), representation), mpi.ErrNotSame)
		wantClass(t, f.SetView(0, typeOf[byte](), typeOf[byte](), "morse"), mpi.ErrUnsupportedDatarep)
		wantClass(t, f.SetSize(int64(me)), mpi.ErrNotSame)
		wantClass(t, f.Preallocate(-1), mpi.ErrArg)
		wantClass(t, f.SetAtomicity(me == 1), mpi.ErrNotSame)
		ok(t, f.Close())
	})
}

// IO-18: the file has a communicator of its own: messages on that of OpenFile do not meet its calls,
// and it may be freed. IO-20: so may the types of the view, which View returns nevertheless.
func TestIO18_IO20_ArgumentsMayBeFreed(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		d, err := c.Dup()
		ok(t, err)
		pending := mpi.Irecv(d, make([]byte, 1), mpi.AnySource, mpi.AnyTag)
		f := openFile(t, d, path, newFile)
		ok(t, f.SetSize(10))
		ok(t, mpi.Send(d, []byte{1}, 1-d.Rank(), 5))
		_, err = pending.Wait()
		ok(t, err)
		etype := committed(mpi.TypeContiguous(2, typeOf[byte]()))
		filetype := committed(mpi.TypeVector(2, 1, 2, etype))
		ok(t, f.SetView(2, etype, filetype, "internal"))
		ok(t, etype.Free())
		ok(t, filetype.Free())
		ok(t, d.Free())
		if c.Rank() == 0 {
			_, err = mpi.WriteAt(f, 1, []byte("ab"))
			ok(t, err)
			if b := content(t, path); string(b[6:8]) != "ab" {
				t.Errorf("file %q", b)
			}
		}
		disp, e, x, rep, err := f.View()
		ok(t, err)
		size, err := x.Size()
		ok(t, err)
		if disp != 2 || e.IsNull() || size != 4 || rep != "internal" {
			t.Errorf("view %d %v %v %s", disp, e, x, rep)
		}
		ok(t, e.Free())
		ok(t, x.Free())
		ok(t, f.Close())
	})
}
