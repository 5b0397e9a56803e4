package mpi_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// blocks is a view of blocks of bytes of a file, of which every n-th belongs to a rank.
func blocks(t testing.TB, size, n int) mpi.Datatype {
	t.Helper()
	one, err := mpi.TypeContiguous(size, typeOf[byte]())
	ok(t, err)
	return committed(mpi.TypeResized(one, 0, size*n))
}

// IO-01, X-IO-01: interleaved blocks of all ranks, written and read by every collective form, at
// explicit offsets and at the individual pointer. The bytes are those that independent accesses see,
// whether the accesses go through aggregators or not, and the holes keep what they had.
func TestIO01_XIO01_CollectiveForms(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const size, count = 7, 100
		f := openFile(t, c, path, newFile, mpi.CbBufferSize(4096))
		view := blocks(t, size, n+1) // the last block of each period belongs to nobody
		wait := func(q mpi.Request) (mpi.Status, error) { return q.Wait() }
		forms := map[string][2]func(at int64, b []byte) (mpi.Status, error){}
		names := []string{"AtAll", "IatAll", "AtAllSplit", "All", "Iall", "AllSplit"}
		forms["AtAll"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) { return mpi.WriteAtAll(f, at, b) },
			func(at int64, b []byte) (mpi.Status, error) { return mpi.ReadAtAll(f, at, b) }}
		forms["IatAll"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) { return wait(mpi.IwriteAtAll(f, at, b)) },
			func(at int64, b []byte) (mpi.Status, error) { return wait(mpi.IreadAtAll(f, at, b)) }}
		forms["AtAllSplit"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) {
				ok(t, mpi.WriteAtAllBegin(f, at, b))
				return f.WriteAtAllEnd()
			},
			func(at int64, b []byte) (mpi.Status, error) {
				ok(t, mpi.ReadAtAllBegin(f, at, b))
				return f.ReadAtAllEnd()
			}}
		seek := func(at int64) { _, err := f.Seek(at, mpi.SeekSet); ok(t, err) }
		forms["All"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) { seek(at); return mpi.WriteAll(f, b) },
			func(at int64, b []byte) (mpi.Status, error) { seek(at); return mpi.ReadAll(f, b) }}
		forms["Iall"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) { seek(at); return wait(mpi.IwriteAll(f, b)) },
			func(at int64, b []byte) (mpi.Status, error) { seek(at); return wait(mpi.IreadAll(f, b)) }}
		forms["AllSplit"] = [2]func(int64, []byte) (mpi.Status, error){
			func(at int64, b []byte) (mpi.Status, error) {
				seek(at)
				ok(t, mpi.WriteAllBegin(f, b))
				return f.WriteAllEnd()
			},
			func(at int64, b []byte) (mpi.Status, error) {
				seek(at)
				ok(t, mpi.ReadAllBegin(f, b))
				return f.ReadAllEnd()
			}}
		for i, name := range names {
			for _, choice := range []string{"automatic", "enable", "disable"} {
				ok(t, f.SetView(0, typeOf[byte](), typeOf[byte](), "native", pairs(t, "romio_cb_write", choice, "romio_cb_read", choice)))
				if me == 0 {
					_, err := mpi.WriteAt(f, 0, bytes.Repeat([]byte{0xee}, size*count*(n+1)))
					ok(t, err)
				}
				ok(t, c.Barrier())
				ok(t, f.SetView(int64(size*me), typeOf[byte](), view, "native"))
				mine := make([]byte, size*count)
				for k := range mine {
					mine[k] = byte(k*13 + me + i)
				}
				at := int64(20 + me) // ranks begin at different offsets
				st, err := forms[name][0](at, mine[at:])
				ok(t, err)
				if st.Bytes() != size*count-at {
					t.Errorf("%s wrote %d bytes", name, st.Bytes())
				}
				if name[0] == 'A' && !strings.Contains(name, "At") {
					if now, err := f.Position(); now != size*count || err != nil {
						t.Errorf("%s: pointer at %d, %v", name, now, err)
					}
				}
				ok(t, c.Barrier())
				got := make([]byte, size*count+30)
				st, err = forms[name][1](at, got[at:])
				ok(t, err)
				if st.Bytes() != size*count-at && (me < n-1 || st.Bytes() < size*count-at) || !bytes.Equal(got[at:size*count], mine[at:]) {
					t.Errorf("%s, %s: rank %d read %d bytes %v", name, choice, me, st.Bytes(), got[:30])
				}
				ok(t, c.Barrier())
				whole := content(t, path)
				for k, b := range whole {
					period, owner := k/(size*(n+1)), k/size%(n+1)
					p := period*size + k%size
					want := byte(0xee)
					if owner < n && p >= 20+owner {
						want = byte(p*13 + owner + i)
					}
					if b != want {
						t.Fatalf("%s, %s: byte %d is %#x, want %#x", name, choice, k, b, want)
					}
				}
				ok(t, c.Barrier())
			}
		}
		ok(t, f.Close())
	})
}

// Random layouts of memory and views of all ranks, written by all and read by all, against a byte
// array. The members choose different sizes, also none; buffers of aggregators are shorter than the
// accesses, so that they need several rounds (IO-01, IO-04).
func TestIO01_RandomCollectives(t *testing.T) {
	onFile(t, 4, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		shared := rand.New(rand.NewPCG(7, 1))
		own := rand.New(rand.NewPCG(7, uint64(10+me)))
		f := openFile(t, c, path, newFile)
		var model []byte // of the whole file; every rank computes it
		for step := range 12 {
			size, gap := 1+shared.IntN(300), shared.IntN(3)
			view := blocks(t, size, n+gap)
			hints := []mpi.FileHint{mpi.CbBufferSize(4096), mpi.CbNodes(shared.IntN(n + 1)), pairs(t, "romio_cb_write", "enable", "romio_cb_read", "enable")}
			ok(t, f.SetView(int64(size*me), typeOf[byte](), view, "native", hints...))
			ats, lens := make([]int, n), make([]int, n)
			for r := range n {
				ats[r], lens[r] = shared.IntN(2000), 2*shared.IntN(5000)*shared.IntN(2)
			}
			position := func(r, p int) int { return size*r + p/size*size*(n+gap) + p%size }
			for r := range n {
				for k := range lens[r] {
					p := position(r, ats[r]+k)
					if p >= len(model) {
						model = append(model, make([]byte, p+1-len(model))...)
					}
					model[p] = byte(k*7 + r*50 + step)
				}
			}
			mine := make([]byte, lens[me])
			for k := range mine {
				mine[k] = byte(k*7 + me*50 + step)
			}
			pair := committed(mpi.TypeVector(2, 1, 3, typeOf[byte]()))
			room := make([]byte, 4*len(mine)/2)
			b := mpi.BufOf(room, len(mine)/2, pair)
			if own.IntN(2) == 0 {
				b = mpi.Buf(mine)
			} else {
				_, err := mpi.Unpack(mine, b)
				ok(t, err)
			}
			st, err := f.WriteAtAll(int64(ats[me]), b)
			ok(t, err)
			if st.Bytes() != int64(len(mine)) {
				t.Errorf("step %d: rank %d wrote %d of %d bytes", step, me, st.Bytes(), len(mine))
			}
			ok(t, c.Barrier())
			if got := content(t, path); !bytes.Equal(got, model) {
				t.Fatalf("step %d: the file of %d bytes differs from the model of %d", step, len(got), len(model))
			}
			at, k := own.IntN(3000), own.IntN(6000)
			got := make([]byte, k)
			st, err = mpi.ReadAtAll(f, int64(at), got)
			ok(t, err)
			want := 0
			for want < k && position(me, at+want) < len(model) {
				want++
			}
			if st.Bytes() != int64(want) {
				t.Fatalf("step %d: rank %d read %d bytes at %d, want %d of %d", step, me, st.Bytes(), at, want, k)
			}
			for i := range want {
				if got[i] != model[position(me, at+i)] {
					t.Fatalf("step %d: rank %d: byte %d read at %d differs", step, me, i, at)
				}
			}
			ok(t, c.Barrier())
		}
		ok(t, f.Close())
	})
}

// X-IO-01, IO-01: accesses at the shared pointer take one place after the other, each rank's own data;
// ordered ones in the order of the ranks.
func TestXIO01_SharedPointer(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		f := openFile(t, c, path, newFile)
		element := typeOf[int32]()
		ok(t, f.SetView(0, element, element, "native"))
		const each = 40
		for i := range each {
			record := []int32{int32(me), int32(i)}
			if i%3 > 0 {
				_, err := mpi.WriteShared(f, record)
				ok(t, err)
				continue
			}
			q := mpi.IwriteShared(f, record)
			_, err := q.Wait()
			ok(t, err)
		}
		ok(t, c.Barrier())
		at, err := f.PositionShared()
		ok(t, err)
		if at != int64(2*each*n) {
			t.Errorf("shared pointer at %d", at)
		}
		_, err = f.SeekShared(0, mpi.SeekSet)
		ok(t, err)
		seen := make([]int32, n)
		records := make([]int32, 2)
		for range each { // the ranks read all records among themselves
			st, err := mpi.ReadShared(f, records)
			ok(t, err)
			if st.Bytes() != 8 || int(records[0]) >= n {
				t.Fatalf("record %v", records)
			}
			seen[records[0]] += records[1]
		}
		total := make([]int32, n)
		ok(t, mpi.Allreduce(c, seen, total, mpi.Sum))
		for r, v := range total {
			if v != each*(each-1)/2 {
				t.Errorf("records of rank %d add up to %d", r, v)
			}
		}
		st, err := mpi.ReadShared(f, records)
		ok(t, err)
		if st.Bytes() != 0 {
			t.Errorf("%d bytes behind the end", st.Bytes())
		}
		// In order, with lengths that differ.
		at, err = f.SeekShared(10, mpi.SeekSet)
		ok(t, err)
		if at != 10 {
			t.Errorf("shared pointer at %d", at)
		}
		mine := make([]int32, me+1)
		for i := range mine {
			mine[i] = int32(100*me + i)
		}
		_, err = mpi.WriteOrdered(f, mine)
		ok(t, err)
		ok(t, mpi.WriteOrderedBegin(f, mine))
		_, err = f.WriteOrderedEnd()
		ok(t, err)
		ok(t, c.Barrier())
		all := make([]int32, 12)
		_, err = mpi.ReadAt(f, 10, all)
		ok(t, err)
		for i, want := range []int32{0, 100, 101, 200, 201, 202, 0, 100, 101, 200, 201, 202} {
			if all[i] != want {
				t.Errorf("in order: %v", all)
				break
			}
		}
		_, err = f.SeekShared(-12, mpi.SeekCur)
		ok(t, err)
		clear(mine)
		_, err = mpi.ReadOrdered(f, mine)
		ok(t, err)
		if mine[me] != int32(101*me) {
			t.Errorf("read in order: %v", mine)
		}
		ok(t, mpi.ReadOrderedBegin(f, mine))
		st, err = f.ReadOrderedEnd()
		ok(t, err)
		if mine[0] != int32(100*me) || st.Bytes() != int64(4*(me+1)) {
			t.Errorf("read in order: %v", mine)
		}
		_, err = f.SeekShared(int64(me), mpi.SeekSet)
		wantClass(t, err, mpi.ErrNotSame)
		_, err = f.SeekShared(-1, mpi.SeekSet)
		wantClass(t, err, mpi.ErrArg)
		ok(t, f.Close())
		// Sequential files have the shared pointer only, and views from where it is.
		f = openFile(t, c, path, mpi.ModeReadOnly|mpi.ModeSequential)
		_, err = f.PositionShared()
		wantClass(t, err, mpi.ErrUnsupportedOperation)
		_, err = f.SeekShared(0, mpi.SeekSet)
		wantClass(t, err, mpi.ErrUnsupportedOperation)
		ok(t, f.SetView(mpi.DisplacementCurrent, element, element, "native"))
		_, err = mpi.ReadOrdered(f, records)
		ok(t, err)
		wantClass(t, f.SetView(0, element, element, "native"), mpi.ErrArg)
		ok(t, f.SetView(mpi.DisplacementCurrent, element, element, "native"))
		if disp, _, _, _, err := f.View(); disp != int64(8*n) || err != nil {
			t.Errorf("displacement %d, %v", disp, err)
		}
		ok(t, f.Close())
	})
}

// IO-11, IO-12, IO-13: a file has one split access at most; its end must match its begin, and no other
// collective access is allowed between. IO-10: the memory belongs to it until then.
func TestIO10_IO11_IO12_IO13_SplitAccesses(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		buf := []byte{1, 2, 3, 4}
		_, err := f.WriteAllEnd()
		wantClass(t, err, mpi.ErrRequest)
		ok(t, mpi.WriteAtAllBegin(f, int64(4*c.Rank()), buf))
		err = mpi.WriteAtAllBegin(f, 0, buf)
		wantClass(t, err, mpi.ErrRequest)
		if err == nil || !strings.Contains(err.Error(), "WriteAtAllBegin on "+path+": WriteAtAllBegin has begun and has not been ended") {
			t.Error(err)
		}
		wantClass(t, mpi.ReadAllBegin(f, buf), mpi.ErrRequest)
		_, err = mpi.ReadAll(f, buf)
		wantClass(t, err, mpi.ErrRequest)
		q := mpi.IreadAll(f, buf)
		_, err = q.Wait()
		wantClass(t, err, mpi.ErrRequest)
		_, err = f.WriteAllEnd()
		wantClass(t, err, mpi.ErrRequest)
		_, err = f.ReadAtAllEnd()
		wantClass(t, err, mpi.ErrRequest)
		wantClass(t, f.Close(), mpi.ErrRequest)
		_, err = mpi.ReadAt(f, 100, make([]byte, 1)) // independent accesses are allowed
		ok(t, err)
		st, err := f.WriteAtAllEnd()
		ok(t, err)
		if st.Bytes() != 4 {
			t.Errorf("wrote %d bytes", st.Bytes())
		}
		ok(t, c.Barrier())
		if b := content(t, path); !bytes.Equal(b, []byte{1, 2, 3, 4, 1, 2, 3, 4}) {
			t.Errorf("file %v", b)
		}
		ok(t, f.Close())
	})
}

// If the arguments of one member are wrong, or it cannot access the file, all members get an error of
// a collective access, with its class.
func TestIO01_ErrorsReachAllMembers(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		at := int64(c.Rank())
		if c.Rank() == 1 {
			at = -5
		}
		_, err := mpi.WriteAtAll(f, at, []byte{1})
		wantClass(t, err, mpi.ErrArg)
		if c.Rank() != 1 && (err == nil || !strings.Contains(err.Error(), "rank 1 takes no part")) {
			t.Error(err)
		}
		q := mpi.IreadAtAll(f, at, []byte{1})
		_, err = q.Wait()
		wantClass(t, err, mpi.ErrArg)
		element := typeOf[int16]()
		ok(t, f.SetView(0, element, element, "native"))
		_, err = mpi.WriteOrdered(f, make([]byte, 2+c.Rank()/2))
		wantClass(t, err, mpi.ErrType)
		if n, err := f.Size(); n != 0 || err != nil {
			t.Errorf("size %d, %v", n, err)
		}
		ok(t, f.Close())
	})
}

// A disk that is full is ErrNoSpace at all members of a collective access in two phases.
func TestIO01_FullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full")
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		f := openFile(t, c, full, mpi.ModeReadWrite, pairs(t, "romio_cb_write", "enable"))
		_, err := mpi.WriteAt(f, 0, []byte{1})
		wantClass(t, err, mpi.ErrNoSpace)
		if err == nil || !strings.Contains(err.Error(), "WriteAt on "+full+": write of 1 bytes at byte 0: no space left") {
			t.Error(err)
		}
		view := blocks(t, 100, 2)
		ok(t, f.SetView(int64(100*c.Rank()), typeOf[byte](), view, "native"))
		_, err = mpi.WriteAtAll(f, 0, make([]byte, 5000*c.Rank()))
		wantClass(t, err, mpi.ErrNoSpace)
		ok(t, f.Close())
	})
}

// IO-12: in checking mode a split access that meets a regular one is an error at all members.
func TestIO12_SplitMeetsRegular(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		var err error
		if c.Rank() == 0 {
			ok(t, mpi.WriteAllBegin(f, []byte{1}))
			_, err = f.WriteAllEnd()
		} else {
			_, err = mpi.WriteAll(f, []byte{1})
		}
		if err == nil || !strings.Contains(err.Error(), "rank 0 calls WriteAllBegin, rank 1 calls WriteAll: rank 0 at an unknown place, rank 1 at file_collective_test.go:") {
			t.Error(err)
		}
		ok(t, f.Close())
	})
}
