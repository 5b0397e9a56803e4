package mpi_test

import (
	"bytes"
	"encoding/gob"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// IO-04, IO-23: data moves by the view: vectors that interleave give every rank its columns of a
// matrix, which one rank reads as a whole.
func TestIO04_IO23_ViewsInterleave(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		const rows = 50
		f := openFile(t, c, path, newFile)
		n, me := c.Size(), c.Rank()
		element := typeOf[int32]()
		column := committed(mpi.TypeVector(rows, 1, n, element))
		ok(t, f.SetView(int64(4*me), element, column, "native"))
		mine := make([]int32, rows)
		for i := range mine {
			mine[i] = int32(i*n + me)
		}
		st, err := mpi.WriteAt(f, 0, mine)
		ok(t, err)
		if mpi.Count[int32](st) != rows {
			t.Errorf("wrote %d elements", mpi.Count[int32](st))
		}
		ok(t, f.Sync())
		clear(mine)
		_, err = mpi.ReadAt(f, 10, mine[10:])
		ok(t, err)
		if mine[10] != int32(10*n+me) || mine[rows-1] != int32((rows-1)*n+me) {
			t.Errorf("rank %d read %v", me, mine)
		}
		ok(t, f.SetView(0, element, element, "native"))
		all := make([]int32, rows*n)
		_, err = mpi.Read(f, all)
		ok(t, err)
		for i, v := range all {
			if v != int32(i) {
				t.Fatalf("element %d is %d", i, v)
			}
		}
		ok(t, f.Close())
	})
}

// IO-22: seek, position and byte offsets, in a view with holes; the end of the file is the first
// element behind its last byte.
func TestIO22_Seek(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		ok(t, f.SetSize(100))
		short := typeOf[int16]()
		two := committed(mpi.TypeVector(2, 1, 3, short)) // bytes 0, 1, 6, 7 of 8
		ok(t, f.SetView(10, short, two, "native"))
		for _, x := range []struct {
			offset int64
			whence int
			want   int64
		}{{5, mpi.SeekSet, 5}, {2, mpi.SeekCur, 7}, {-7, mpi.SeekCur, 0}, {0, mpi.SeekEnd, 23}, {-3, mpi.SeekEnd, 20}, {4, mpi.SeekEnd, 27}} {
			at, err := f.Seek(x.offset, x.whence)
			ok(t, err)
			if now, err := f.Position(); at != x.want || now != x.want || err != nil {
				t.Errorf("seek by %d from %d: at %d, position %d, want %d", x.offset, x.whence, at, now, x.want)
			}
		}
		for _, whence := range []int{mpi.SeekSet, mpi.SeekEnd, 7} {
			_, err := f.Seek(-100, whence)
			wantClass(t, err, mpi.ErrArg)
		}
		for offset, want := range []int64{10, 16, 18, 24, 26} {
			at, err := f.ByteOffset(int64(offset))
			ok(t, err)
			if at != want {
				t.Errorf("element %d is at byte %d, want %d", offset, at, want)
			}
		}
		extent, err := f.TypeExtent(two)
		ok(t, err)
		if extent != 8 {
			t.Errorf("extent %d", extent)
		}
		ok(t, f.Close())
	})
}

// IO-22: if elements overlap by several extents, the end of the file is still the first elementary type that begins
// behind it, although bytes that are behind it occur in the view before (14.1.1).
func TestIO22_EndBehindOverlappingElements(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		ok(t, f.SetSize(811))
		ok(t, f.Close())
		f = openFile(t, c, path, mpi.ModeReadOnly)
		long := committed(mpi.TypeContiguous(16, typeOf[byte]()))
		two := committed(mpi.TypeResized(committed(mpi.TypeContiguous(2, long)), 0, 3))
		ok(t, f.SetView(0, long, two, "native"))
		at, err := f.Seek(0, mpi.SeekEnd)
		ok(t, err)
		if begin, err := f.ByteOffset(at); at != 531 || begin != 811 || err != nil { // the second one of element 265
			t.Errorf("the end of 811 bytes is at %d, byte %d of the file, %v", at, begin, err)
		}
		for before := range at {
			if begin, err := f.ByteOffset(before); begin >= 811 || err != nil {
				t.Errorf("elementary type %d, before the end, begins at byte %d, %v", before, begin, err)
			}
		}
		ok(t, f.Close())
	})
}

// IO-22: a matrix that is distributed by darray is in the file as a whole.
func TestIO22_Darray(t *testing.T) {
	onFile(t, 4, func(t testing.TB, c *mpi.Comm, path string) {
		const n = 11
		element := typeOf[int32]()
		part := committed(mpi.TypeDarray(4, c.Rank(), []mpi.Distribute{{n, mpi.DistributeCyclic, 2, 2}, {n, mpi.DistributeBlock, mpi.DistributeDefault, 2}}, mpi.OrderC, element))
		size, err := part.Size()
		ok(t, err)
		f := openFile(t, c, path, newFile)
		ok(t, f.SetView(0, element, part, "native"))
		mine := make([]int32, size/4)
		for i := range mine {
			at, err := f.ByteOffset(int64(i))
			ok(t, err)
			mine[i] = int32(at / 4)
		}
		_, err = mpi.Write(f, mine)
		ok(t, err)
		ok(t, f.Sync())
		ok(t, f.SetView(0, element, element, "native"))
		all := make([]int32, n*n)
		st, err := mpi.Read(f, all)
		ok(t, err)
		for i, v := range all {
			if v != int32(i) || mpi.Count[int32](st) != n*n {
				t.Fatalf("element %d is %d", i, v)
			}
		}
		ok(t, f.Close())
	})
}

// IO-19, DT-13, DT-14: bytes match any type; types must be committed, and memory to read into must not
// overlap; views must ascend.
func TestIO19_DT13_DT14_Types(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		_, err := mpi.WriteAt(f, 0, []float64{1.25})
		ok(t, err)
		buf := make([]float64, 1)
		_, err = f.ReadAt(0, mpi.Buf(buf))
		ok(t, err)
		if buf[0] != 1.25 {
			t.Errorf("read %v", buf)
		}
		element := typeOf[int32]()
		raw, err := mpi.TypeContiguous(2, element)
		ok(t, err)
		_, err = f.WriteAt(0, mpi.BufOf(make([]int32, 2), 1, raw))
		wantClass(t, err, mpi.ErrType)
		wantClass(t, f.SetView(0, element, raw, "native"), mpi.ErrType)
		wantClass(t, f.SetView(0, mpi.DatatypeNull, element, "native"), mpi.ErrType)
		wantClass(t, f.SetView(-1, element, element, "native"), mpi.ErrArg)
		twice := committed(mpi.TypeIndexed([]int{2, 2}, []int{0, 1}, element))
		_, err = f.ReadAt(0, mpi.BufOf(make([]int32, 3), 1, twice))
		wantClass(t, err, mpi.ErrType)
		_, err = f.WriteAt(0, mpi.BufOf(make([]int32, 3), 1, twice))
		ok(t, err)
		wantClass(t, f.SetView(0, element, twice, "native"), mpi.ErrArg)
		down := committed(mpi.TypeIndexed([]int{1, 1}, []int{1, 0}, element))
		err = f.SetView(0, element, down, "native")
		wantClass(t, err, mpi.ErrArg)
		if err == nil || !strings.Contains(err.Error(), "0 comes after 4") {
			t.Error(err)
		}
		none := committed(mpi.TypeContiguous(0, element))
		wantClass(t, f.SetView(0, none, element, "native"), mpi.ErrArg)
		ok(t, f.Close())
		_, err = mpi.ReadAt(f, 0, buf)
		wantClass(t, err, mpi.ErrFile)
		wantClass(t, f.Close(), mpi.ErrFile)
	})
}

// IO-04, IO-22: a member that has no element of a distributed array has a file type without data. It takes part in
// collective accesses with none, and cannot access anything.
func TestIO04_IO22_MembersThatSeeNothing(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		element := typeOf[int16]()
		part := committed(mpi.TypeDarray(3, c.Rank(), []mpi.Distribute{{5, mpi.DistributeCyclic, 4, 3}}, mpi.OrderC, element))
		mine := [][]int16{{0, 1, 2, 3}, {4}, {}}[c.Rank()]
		f := openFile(t, c, path, newFile)
		for _, representation := range []string{"native", "external32"} {
			ok(t, f.SetView(2, element, part, representation))
			for _, choice := range []string{"enable", "disable"} {
				ok(t, f.SetInfo(pairs(t, "romio_cb_write", choice, "romio_cb_read", choice)))
				_, err := mpi.WriteAtAll(f, 0, mine)
				ok(t, err)
				ok(t, c.Barrier())
				got := make([]int16, len(mine))
				st, err := mpi.ReadAtAll(f, 0, got)
				ok(t, err)
				if !slices.Equal(got, mine) || st.Bytes() != int64(2*len(mine)) {
					t.Errorf("rank %d reads %v of %v", c.Rank(), got, mine)
				}
			}
		}
		if c.Rank() == 2 {
			_, err := mpi.ReadAt(f, 0, make([]int16, 1))
			wantClass(t, err, mpi.ErrArg)
			if err == nil || !strings.Contains(err.Error(), "has no data: 2 bytes cannot be accessed") {
				t.Error(err)
			}
			_, err = mpi.WriteAt(f, 0, []int16{})
			ok(t, err)
			if at, err := f.Seek(0, mpi.SeekEnd); at != 0 || err != nil {
				t.Errorf("the end is at %d, %v", at, err)
			}
			if at, err := f.ByteOffset(0); at != 2 || err != nil {
				t.Errorf("offset 0 is at byte %d, %v", at, err)
			}
		}
		ok(t, f.Close())
		if size := len(content(t, path)); size != 12 {
			t.Errorf("%d bytes", size)
		}
	})
}

// Encoders and decoders of the standard library work on the view of a rank.
func TestStream(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		every := committed(mpi.TypeResized(typeOf[byte](), 0, 2))
		ok(t, f.SetView(int64(c.Rank()), typeOf[byte](), every, "native"))
		ok(t, gob.NewEncoder(f.Stream()).Encode(map[string]int{"rank": c.Rank()}))
		ok(t, f.Sync())
		if _, err := f.Stream().Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		var m map[string]int
		ok(t, gob.NewDecoder(f.Stream()).Decode(&m))
		if m["rank"] != c.Rank() {
			t.Errorf("decoded %v", m)
		}
		end, err := f.Stream().Seek(0, io.SeekEnd)
		ok(t, err)
		if n, err := f.Stream().ReadAt(make([]byte, 5), end-1); n != 1 && c.Rank() == 1 || err != io.EOF {
			t.Errorf("%d bytes at the end, %v", n, err)
		}
		all, err := io.ReadAll(io.NewSectionReader(f.Stream(), 0, end))
		ok(t, err)
		if !bytes.Contains(all, []byte("rank")) {
			t.Errorf("read %q", all)
		}
		ok(t, f.Close())
	})
}

// A file type of a header and an array behind it has the bounds of the array, whose type has markers. One element is one
// run of bytes, and a second one would overlap it: the view has one element, in a file that may be written, too (IO-04,
// DT-13). PnetCDF makes such types.
func TestIO04_DT13_HeaderAndArray(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		const header, rows, columns = 12, 2, 5
		array, err := mpi.TypeSubarray([]int{rows, columns}, []int{rows, columns}, []int{0, 0}, mpi.OrderC, typeOf[byte]())
		ok(t, err)
		view, err := mpi.TypeStruct([]int{header, 1}, []int{0, header}, []mpi.Datatype{typeOf[byte](), array})
		ok(t, err)
		f := openFile(t, c, path, newFile)
		ok(t, f.SetView(int64(100*c.Rank()), typeOf[byte](), committed(view, err), "native"))
		mine := bytes.Repeat([]byte{byte(c.Rank() + 1)}, header+rows*columns)
		_, err = mpi.WriteAtAll(f, 0, mine)
		ok(t, err)
		got := make([]byte, len(mine))
		_, err = mpi.ReadAtAll(f, 0, got)
		ok(t, err)
		if !bytes.Equal(got, mine) {
			t.Errorf("read %d, want %d", got, mine)
		}
		_, err = mpi.WriteAt(f, 1, mine)
		wantClass(t, err, mpi.ErrArg)
		ok(t, f.Close())
	})
}

// IO-04, DT-13: the extent of a type of several subarrays is shorter than its data if it begins with
// elements without markers of bounds. Such a type is a view of one element: an access within it
// moves the bytes of the typemap, one beyond it is an error.
func TestIO04_DT13_FileTypeOfOneElement(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const rows, columns, parts = 4, 3, 2
		part, err := mpi.TypeSubarray([]int{rows, columns * n}, []int{rows, columns}, []int{0, columns * me}, mpi.OrderC, typeOf[byte]())
		ok(t, err)
		lengths, displs, types := []int{rows}, []int{rows * me}, []mpi.Datatype{typeOf[byte]()}
		for i := range parts {
			lengths, displs, types = append(lengths, 1), append(displs, rows*n+rows*columns*n*i), append(types, part)
		}
		view, err := mpi.TypeStruct(lengths, displs, types)
		ok(t, err)
		f := openFile(t, c, path, newFile)
		ok(t, f.SetView(0, typeOf[byte](), committed(view, err), "native"))
		mine := make([]byte, rows+parts*rows*columns)
		for i := range mine {
			mine[i] = byte(100*me + i)
		}
		_, err = mpi.WriteAtAll(f, 0, mine)
		ok(t, err)
		ok(t, c.Barrier())
		whole := content(t, path)
		if len(whole) != n*len(mine) {
			t.Fatalf("the file has %d bytes", len(whole))
		}
		for i, b := range mine {
			at := rows*me + i
			if k := i - rows; k >= 0 {
				at = rows*n + k/columns*columns*n + columns*me + k%columns
			}
			if whole[at] != b {
				t.Errorf("byte %d is %d, want %d", at, whole[at], b)
			}
		}
		if me > 0 {
			_, err := mpi.ReadAt(f, 1, mine)
			wantClass(t, err, mpi.ErrArg)
		}
		ok(t, f.Close())
	})
}
