package mpi_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Accesses at the shared pointer that would end behind the last byte of a view are errors and move no byte, as at
// other offsets: a view has one element if a second one would overlap it (IO-04, X-IO-01).
func TestXIO01_IO04_SharedPointerBehindTheView(t *testing.T) {
	wait := func(q mpi.Request) (mpi.Status, error) { return q.Wait() }
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		three := []byte{1, 2, 3}
		for _, type3 := range []mpi.Datatype{committed(mpi.TypeContiguous(3, typeOf[byte]())), committed(mpi.TypeVector(3, 1, 2, typeOf[byte]()))} {
			f := openFile(t, c, path, newFile|mpi.ModeDeleteOnClose)
			ok(t, f.SetView(10, typeOf[byte](), committed(mpi.TypeResized(type3, 0, 1)), "native"))
			if c.Rank() == 0 {
				_, err := mpi.WriteShared(f, three)
				ok(t, err)
			}
			ok(t, c.Barrier())
			before := content(t, path)
			_, err := mpi.WriteShared(f, three)
			wantClass(t, err, mpi.ErrArg)
			_, err = wait(mpi.IwriteShared(f, three))
			wantClass(t, err, mpi.ErrArg)
			_, err = mpi.ReadShared(f, make([]byte, 1))
			wantClass(t, err, mpi.ErrArg)
			_, err = mpi.WriteOrdered(f, three)
			wantClass(t, err, mpi.ErrArg)
			_, err = f.SeekShared(2, mpi.SeekSet)
			ok(t, err)
			_, err = mpi.WriteOrdered(f, three[:1]) // one of two bytes has room
			wantClass(t, err, mpi.ErrArg)
			ok(t, c.Barrier())
			if after := content(t, path); !bytes.Equal(after, before) {
				t.Errorf("the file has % x, and before % x", after, before)
			}
			ok(t, c.Barrier())
			ok(t, f.Close())
		}
	})
}

// Every negative offset is an error, also those that the engine gives a meaning (IO-03).
func TestIO03_NegativeOffsets(t *testing.T) {
	wait := func(q mpi.Request) (mpi.Status, error) { return q.Wait() }
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		b := []byte{1}
		for _, at := range []int64{-1, math.MinInt64 + 2, math.MinInt64 + 1, math.MinInt64} {
			_, err := mpi.WriteAt(f, at, b)
			wantClass(t, err, mpi.ErrArg)
			_, err = f.ReadAt(at, mpi.Buf(b))
			wantClass(t, err, mpi.ErrArg)
			_, err = wait(mpi.IwriteAt(f, at, b))
			wantClass(t, err, mpi.ErrArg)
			_, err = f.WriteAtAll(at, mpi.Buf(b))
			wantClass(t, err, mpi.ErrArg)
			_, err = wait(mpi.IreadAtAll(f, at, b))
			wantClass(t, err, mpi.ErrArg)
			_, err = f.Stream().WriteAt(b, at)
			wantClass(t, err, mpi.ErrArg)
			ok(t, mpi.WriteAtAllBegin(f, at, b))
			_, err = f.WriteAtAllEnd()
			wantClass(t, err, mpi.ErrArg)
		}
		if size, err := f.Size(); size != 0 || err != nil {
			t.Errorf("%d bytes, %v", size, err)
		}
		ok(t, f.Close())
	})
}

// A view of a sequential file whose last byte has been accessed ends there: the next view at the shared pointer begins
// behind it (IO-08, IO-04).
func TestIO08_IO04_NextViewOfASequentialFile(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, mpi.ModeCreate|mpi.ModeWriteOnly|mpi.ModeSequential)
		b := typeOf[byte]()
		two := committed(mpi.TypeVector(2, 1, 2, b)) // bytes 0 and 2; a second element would overlap it
		ok(t, f.SetView(mpi.DisplacementCurrent, b, committed(mpi.TypeResized(two, 0, 1)), "native"))
		_, err := mpi.WriteOrdered(f, []byte{byte(c.Rank() + 1)})
		ok(t, err)
		if at, err := f.ByteOffset(2); at != 3 || err != nil {
			t.Errorf("the view ends at byte %d, %v", at, err)
		}
		ok(t, f.SetView(mpi.DisplacementCurrent, b, b, "native"))
		_, err = mpi.WriteOrdered(f, []byte{byte(c.Rank() + 3)})
		ok(t, err)
		ok(t, f.Close())
		if got := content(t, path); !bytes.Equal(got, []byte{1, 0, 2, 3, 4}) {
			t.Errorf("the file has %v", got)
		}
	})
}
