package mpi_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// asBytes is the memory of numbers.
func asBytes[T any](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
}

// Pack appends, Unpack reads from the front, and pieces of several types make one message
// (DT-32: as bytes of any origin).
func TestDT32_PackPieceByPiece(t *testing.T) {
	column := typ(t)(mpi.TypeVector(3, 1, 2, typ(t)(mpi.TypeOf[int32]())))
	head, xs, ys := []uint16{7, 8}, []int32{1, 2, 3, 4, 5, 6}, []float64{0.5, -3}
	dst := []byte("begin")
	for _, b := range []mpi.Buffer{mpi.Buf(head), mpi.BufAt(xs, 1, 1, column), {}, mpi.Buf(ys), mpi.Buf[int](nil)} {
		before := len(dst)
		var err error
		dst, err = mpi.Pack(dst, b)
		ok(t, err)
		if int64(len(dst)-before) != b.Bytes() {
			t.Errorf("%d bytes packed of %d", len(dst)-before, b.Bytes())
		}
	}
	want := slices.Concat([]byte("begin"), asBytes(head), asBytes([]int32{2, 4, 6}), asBytes(ys))
	if !bytes.Equal(dst, want) {
		t.Fatalf("packed % x, want % x", dst, want)
	}
	n, err := mpi.PackSize(1, column)
	ok(t, err)
	if n != 12 {
		t.Errorf("a column takes %d bytes", n)
	}
	head2, xs2, ys2 := make([]uint16, 2), make([]int32, 6), make([]float64, 2)
	rest := dst[len("begin"):]
	for _, b := range []mpi.Buffer{mpi.Buf(head2), mpi.BufOf(xs2, 1, column), {}, mpi.Buf(ys2)} {
		rest, err = mpi.Unpack(rest, b)
		ok(t, err)
	}
	if len(rest) != 0 || !slices.Equal(head2, head) || !slices.Equal(xs2, []int32{2, 0, 4, 0, 6, 0}) || !slices.Equal(ys2, ys) {
		t.Errorf("unpacked %v %v %v, %d bytes left", head2, xs2, ys2, len(rest))
	}
}

// Packed data is sent as Packed and received with the types of its parts, and the other way
// round (DT-16, DT-32).
func TestDT16_PackedMatchesItsParts(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		column := typ(t)(mpi.TypeVector(4, 1, 3, typ(t)(mpi.TypeOf[float64]())))
		mem := make([]float64, 12)
		if c.Rank() == 0 {
			for i := range mem {
				mem[i] = float64(i)
			}
			packed, err := mpi.Pack(nil, mpi.BufOf(mem, 1, column))
			ok(t, err)
			ok(t, c.Send(mpi.BufOf(packed, len(packed), mpi.Packed()), 1, 0))
			ok(t, c.Send(mpi.BufOf(mem, 1, column), 1, 1))
			return
		}
		_, err := c.Recv(mpi.BufOf(mem, 1, column), 0, 0)
		ok(t, err)
		packed := make([]byte, 32)
		st, err := c.Recv(mpi.BufOf(packed, len(packed), mpi.Packed()), 0, 1)
		ok(t, err)
		again := make([]float64, 12)
		ok(t, second(mpi.Unpack(packed[:st.Bytes()], mpi.BufOf(again, 1, column))))
		want := []float64{0, 0, 0, 3, 0, 0, 6, 0, 0, 9, 0, 0}
		if !slices.Equal(mem, want) || !slices.Equal(again, want) {
			t.Errorf("received %v, and packed %v; want %v", mem, again, want)
		}
	})
}

// Bad input loses nothing: too few bytes to unpack, bytes that would be written twice, and an
// invalid Buffer.
func TestDT32_PackRefuses(t *testing.T) {
	i32 := typ(t)(mpi.TypeOf[int32]())
	v := typ(t)(mpi.TypeVector(2, 1, 2, i32))
	twice := typ(t)(mpi.TypeHindexed([]int{1, 1}, []int{0, 2}, i32))
	mem, src := []int32{1, 2, 3}, []byte{9, 9, 9, 9, 9, 9, 9}
	for call, unpack := range map[string]func([]byte, mpi.Buffer) ([]byte, error){"Unpack": mpi.Unpack, "UnpackExternal": mpi.UnpackExternal} {
		rest, err := unpack(src, mpi.BufOf(mem, 1, v))
		wantText(t, err, mpi.ErrTruncate, "mpi: "+call+": 1 ", "vector(2 1 2 MPI_INT32_T)", "8 bytes", "7")
		if len(rest) != len(src) || !slices.Equal(mem, []int32{1, 2, 3}) {
			t.Errorf("%s that failed left %v of the source and %v", call, rest, mem)
		}
		rest, err = unpack(src, mpi.BufOf(mem, 1, twice))
		wantText(t, err, mpi.ErrType, "mpi: "+call+": 1 x hindexed(2 1 1 0 2 MPI_INT32_T)", "occur twice")
		if len(rest) != len(src) || !slices.Equal(mem, []int32{1, 2, 3}) {
			t.Errorf("%s that failed left %v of the source and %v", call, rest, mem)
		}
		wantText(t, second(unpack(src, mpi.BufOf(mem, 2, v))), mpi.ErrBuffer, "mpi: "+call, "24 of a buffer of 12")
	}
	for call, pack := range map[string]func([]byte, mpi.Buffer) ([]byte, error){"Pack": mpi.Pack, "PackExternal": mpi.PackExternal} {
		dst, err := pack(src, mpi.BufOf(mem, 2, v))
		wantText(t, err, mpi.ErrBuffer, "mpi: "+call, "24 of a buffer of 12")
		if len(dst) != len(src) {
			t.Errorf("%s that failed gives %v", call, dst)
		}
		dst, err = pack(nil, mpi.BufOf(mem, 1, twice)) // reading bytes twice is not an error
		ok(t, err)
		if len(dst) != 8 {
			t.Errorf("%s gives %v", call, dst)
		}
	}
}

// external32 (DT-26, P2P-18): big-endian, with the standard's sizes (DT-33), for numbers and structs of
// Go.
func TestDT26_DT33_External32(t *testing.T) {
	type record struct {
		n    int16
		x    float64
		on   bool
		z    complex64
		best mpi.ValueIndex[float64, int32]
	}
	in := []record{{-2, 1.5, true, 2 + 3i, mpi.ValueIndex[float64, int32]{Value: -0.25, Index: 9}}, {3, math.Inf(1), false, -1i, mpi.ValueIndex[float64, int32]{Value: 1, Index: -1}}}
	var want []byte
	be := binary.BigEndian
	for _, r := range in {
		want = be.AppendUint16(want, uint16(r.n))
		want = be.AppendUint64(want, math.Float64bits(r.x))
		on := byte(0)
		if r.on {
			on = 1
		}
		want = append(want, on)
		want = be.AppendUint32(want, math.Float32bits(real(r.z)))
		want = be.AppendUint32(want, math.Float32bits(imag(r.z)))
		want = be.AppendUint64(want, math.Float64bits(r.best.Value))
		want = be.AppendUint32(want, uint32(r.best.Index))
	}
	got, err := mpi.PackExternal([]byte{'>'}, mpi.Buf(in))
	ok(t, err)
	if !bytes.Equal(got[1:], want) || got[0] != '>' {
		t.Fatalf("external32 is % x, want % x", got[1:], want)
	}
	if n, err := mpi.PackExternalSize(2, typ(t)(mpi.TypeOf[record]())); err != nil || n != len(want) {
		t.Errorf("size %d (%v), want %d", n, err, len(want))
	}
	out := make([]record, 2)
	rest, err := mpi.UnpackExternal(append(got[1:], 1, 2), mpi.Buf(out))
	ok(t, err)
	if !slices.Equal(out, in) || !bytes.Equal(rest, []byte{1, 2}) {
		t.Errorf("back: %v, %v", out, rest)
	}
	one, err := mpi.PackExternal(nil, mpi.Buf([]int32{1}))
	ok(t, err)
	if !bytes.Equal(one, []byte{0, 0, 0, 1}) {
		t.Errorf("1 is % x", one)
	}
	if empty, err := mpi.PackExternal(nil, mpi.Buffer{}); err != nil || len(empty) != 0 {
		t.Errorf("nothing is % x (%v)", empty, err)
	}
	if rest, err := mpi.UnpackExternal([]byte{1}, mpi.Buffer{}); err != nil || len(rest) != 1 {
		t.Errorf("of nothing % x is left (%v)", rest, err)
	}
}

// All predefined types survive a round trip through external32; MPI_LONG has fewer bytes there:
// the low ones, with the sign (DT-31, DT-33).
func TestDT31_DT33_External32OfAllTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, d := range mpi.PredefinedTypes() {
		tr := traits(t, d)
		in := make([]byte, 5*tr[2])
		for i := range in {
			in[i] = byte(r.IntN(120)) // numbers, not NaNs
		}
		n, err := mpi.PackExternalSize(5, d)
		ok(t, err)
		packed, err := mpi.PackExternal(nil, mpi.BufOf(in, 5, d))
		ok(t, err)
		if len(packed) != n || n == 0 {
			t.Errorf("%s: %d bytes, want %d", name, len(packed), n)
		}
		// After one conversion the numbers are exact, and do not change any more.
		once := make([]byte, len(in))
		rest, err := mpi.UnpackExternal(packed, mpi.BufOf(once, 5, d))
		ok(t, err)
		again, err := mpi.PackExternal(nil, mpi.BufOf(once, 5, d))
		ok(t, err)
		if len(rest) != 0 || !bytes.Equal(again, packed) {
			t.Errorf("%s: packed % x, and again % x", name, packed, again)
		}
	}
	long := typ(t)(mpi.Predefined("MPI_LONG"))
	if traits(t, long)[0] != 8 {
		return // windows: a long has the size of external32
	}
	packed, err := mpi.PackExternal(nil, mpi.BufOf([]int64{-5}, 1, long))
	ok(t, err)
	back := []int64{0}
	ok(t, second(mpi.UnpackExternal(packed, mpi.BufOf(back, 1, long))))
	if !bytes.Equal(packed, []byte{0xff, 0xff, 0xff, 0xfb}) || back[0] != -5 {
		t.Errorf("-5 is % x and comes back as %d", packed, back[0])
	}
}
