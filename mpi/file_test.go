package mpi_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// onFile runs fn as n ranks over every fabric, each time with another path of a file that does not
// exist.
func onFile(t *testing.T, n int, fn func(t testing.TB, c *mpi.Comm, path string)) {
	t.Helper()
	dir := t.TempDir()
	mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
		fn(t, c, filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")))
	})
}

const newFile = mpi.ModeCreate | mpi.ModeReadWrite

// openFile opens a file, and fails the test if it cannot.
func openFile(t testing.TB, c *mpi.Comm, path string, mode mpi.FileMode, hints ...mpi.FileHint) *mpi.File {
	t.Helper()
	f, err := mpi.OpenFile(c, path, mode, hints...)
	ok(t, err)
	return f
}

// content is the bytes of a file.
func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	return b
}

// IO-03, IO-09: offsets count elementary types of the view: the third double is at byte 24 behind the
// displacement. What was written is read. Negative offsets are errors.
func TestIO03_IO09_OffsetsAreInElements(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		double := typeOf[float64]()
		ok(t, f.SetView(8, double, double, "native"))
		if c.Rank() == 0 {
			_, err := mpi.WriteAt(f, 3, []float64{1.5, 2.5})
			ok(t, err)
			if b := content(t, path); len(b) != 8+5*8 || b[8+3*8+6] != 0xf8 {
				t.Errorf("file %v", b)
			}
		}
		ok(t, f.Sync())
		buf := make([]float64, 2)
		st, err := mpi.ReadAt(f, 3, buf)
		ok(t, err)
		if buf[0] != 1.5 || buf[1] != 2.5 || mpi.Count[float64](st) != 2 {
			t.Errorf("read %v, %d elements", buf, mpi.Count[float64](st))
		}
		_, err = mpi.ReadAt(f, -1, buf)
		wantClass(t, err, mpi.ErrArg)
		_, err = mpi.WriteAt(f, -1, buf)
		wantClass(t, err, mpi.ErrArg)
		_, err = mpi.WriteAt(f, 1<<60, buf)
		wantClass(t, err, mpi.ErrArg)
		_, err = mpi.ReadAt(f, 0, []float32{1, 2, 3})
		wantClass(t, err, mpi.ErrType)
		at, err := f.ByteOffset(3)
		ok(t, err)
		if at != 32 {
			t.Errorf("element 3 is at byte %d", at)
		}
		ok(t, f.Close())
	})
}

// IO-05, IO-02: an access that does not block has a request, for which the program waits together with
// those of messages. It needs no other member.
func TestIO05_IO02_Requests(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		me, peer := int64(c.Rank()), 1-c.Rank()
		out, in, got := []byte("0123456789"), make([]byte, 10), make([]byte, 10)
		list := []mpi.Request{
			mpi.Irecv(c, in, peer, 1),
			mpi.IwriteAt(f, 10*me, out),
			mpi.Isend(c, out, peer, 1),
		}
		st := make([]mpi.Status, len(list))
		ok(t, mpi.Waitall(list, st))
		if st[1].Bytes() != 10 {
			t.Errorf("wrote %d bytes", st[1].Bytes())
		}
		q := mpi.IreadAt(f, 10*me+5, got)
		one, err := q.Wait()
		ok(t, err)
		if me == 1 && one.Bytes() != 5 || string(got[:5]) != "56789" {
			t.Errorf("read %d bytes: %q", one.Bytes(), got)
		}
		// The pointer moves at once.
		q = mpi.Iwrite(f, out[:3])
		at, err := f.Position()
		ok(t, err)
		if at != 3 {
			t.Errorf("pointer at %d", at)
		}
		_, err = q.Wait()
		ok(t, err)
		_, err = f.Seek(0, mpi.SeekSet)
		ok(t, err)
		q = mpi.Iread(f, got[:3])
		_, err = q.Wait()
		ok(t, err)
		// Errors of arguments come from the wait.
		q = mpi.IwriteAt(f, -1, out)
		_, err = q.Wait()
		wantClass(t, err, mpi.ErrArg)
		ok(t, f.Close())
	})
}

// IO-06, IO-07: the status tells how much was accessed: at the end of the file it is less than asked
// for, and nothing behind it. Writing beyond the end makes the file longer.
func TestIO06_IO07_EndOfFile(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		integer := typeOf[int32]()
		ok(t, f.SetView(0, integer, integer, "native"))
		_, err := mpi.WriteAt(f, 0, []int32{1, 2, 3})
		ok(t, err)
		buf := make([]int32, 5)
		for at, want := range []int{3, 2, 1, 0, 0} {
			st, err := mpi.ReadAt(f, int64(at), buf)
			ok(t, err)
			if n := mpi.Count[int32](st); n != want {
				t.Errorf("%d elements at %d, want %d", n, at, want)
			}
			n, err := st.Elements(integer)
			ok(t, err)
			if n != want || st.Cancelled() {
				t.Errorf("status %+v, %d elements", st, n)
			}
		}
		_, err = mpi.WriteAt(f, 10, []int32{7})
		ok(t, err)
		size, err := f.Size()
		ok(t, err)
		if size != 44 {
			t.Errorf("size %d", size)
		}
		_, err = mpi.ReadAt(f, 3, buf)
		ok(t, err)
		if !slices.Equal(buf, []int32{0, 0, 0, 0, 0}) {
			t.Errorf("the hole has %v", buf)
		}
		ok(t, f.Close())
	})
}

// IO-08: explicit offsets and the individual pointer are errors in a sequential file.
func TestIO08_Sequential(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, mpi.ModeCreate|mpi.ModeWriteOnly|mpi.ModeSequential)
		_, err := mpi.WriteAt(f, 0, []byte{1})
		wantClass(t, err, mpi.ErrUnsupportedOperation)
		_, err = mpi.Write(f, []byte{1})
		wantClass(t, err, mpi.ErrUnsupportedOperation)
		_, err = f.Seek(0, mpi.SeekSet)
		wantClass(t, err, mpi.ErrUnsupportedOperation)
		wantClass(t, f.SetSize(3), mpi.ErrUnsupportedOperation)
		ok(t, f.Close())
	})
}

// Atomic mode: what a rank writes, another one sees whole or not at all.
func TestXIO01_Atomicity(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		on, err := f.Atomicity()
		ok(t, err)
		if on {
			t.Error("atomic mode from the start")
		}
		ok(t, f.SetAtomicity(true))
		every := committed(mpi.TypeVector(200, 1, 2, typeOf[byte]())) // many system calls
		ok(t, f.SetView(0, typeOf[byte](), every, "native"))
		buf := make([]byte, 200)
		for i := range 100 {
			if c.Rank() == 0 {
				for k := range buf {
					buf[k] = byte(i)
				}
				_, err := mpi.WriteAt(f, 0, buf)
				if i%2 == 0 { // a worker waits for the lock
					q := mpi.IwriteAt(f, 0, buf)
					_, err = q.Wait()
				}
				ok(t, err)
				continue
			}
			st, err := mpi.ReadAt(f, int64(i), buf) // the lock begins elsewhere
			ok(t, err)
			for _, b := range buf[:st.Bytes()] {
				if b != buf[0] {
					t.Fatalf("read %v", buf)
				}
			}
		}
		ok(t, f.Close())
	})
}

// Preallocate and SetSize.
func TestIO07_Sizes(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		for _, x := range []struct {
			set  func(int64) error
			n    int64
			want int64
		}{{f.Preallocate, 5000, 5000}, {f.SetSize, 17, 17}, {f.Preallocate, 3, 17}, {f.Preallocate, 0, 17}, {f.SetSize, 1 << 41, 1 << 41}, {f.SetSize, 0, 0}} {
			ok(t, x.set(x.n))
			n, err := f.Size()
			ok(t, err)
			if n != x.want {
				t.Errorf("size %d, want %d", n, x.want)
			}
			ok(t, c.Barrier())
		}
		ok(t, f.Close())
	})
}
