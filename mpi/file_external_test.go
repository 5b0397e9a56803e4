package mpi_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Example of the standard (DT-30, E2-11): rank 0 writes 100 values in external32 and rank 1 reads them;
// the bytes in the file are big-endian. Writing a file that is open for reading is an error.
func TestDT30_E2_11_External32(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		double, err := mpi.TypeMatchSize(mpi.TypeclassReal, 8)
		ok(t, err)
		if c.Rank() == 0 {
			f := openFile(t, c.Self(), path, mpi.ModeCreate|mpi.ModeWriteOnly)
			ok(t, f.SetView(0, double, double, "external32"))
			x := make([]float64, 100)
			for i := range x {
				x[i] = float64(i) / 3
			}
			st, err := mpi.Write(f, x)
			ok(t, err)
			if mpi.Count[float64](st) != 100 {
				t.Errorf("wrote %d", mpi.Count[float64](st))
			}
			ok(t, f.Close())
			b := content(t, path)
			for i, v := range x {
				if math.Float64frombits(binary.BigEndian.Uint64(b[8*i:])) != v {
					t.Errorf("value %d is %x", i, b[8*i:8*i+8])
					break
				}
			}
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 {
			f := openFile(t, c.Self(), path, mpi.ModeReadOnly)
			ok(t, f.SetView(0, double, double, "external32"))
			x := make([]float64, 103)
			st, err := mpi.Read(f, x)
			ok(t, err)
			if mpi.Count[float64](st) != 100 || x[99] != 33 || x[100] != 0 {
				t.Errorf("read %d: %v", mpi.Count[float64](st), x[97:])
			}
			_, err = mpi.Write(f, x)
			wantClass(t, err, mpi.ErrReadOnly)
			ok(t, f.Close())
		}
	})
}

// IO-17, DT-26, DT-31, E2-12: sizes and forms of basic types in the file, byte by byte: a long of 8 bytes
// takes 4, with its sign; a long double has 15 bits of exponent with bias 16383; bytes are not converted
// (DT-32). Elements of C and Go are converted alike, at any offset, in every kind of access.
func TestIO17_DT26_DT31_DT32_E2_12_Golden(t *testing.T) {
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		named := func(name string) mpi.Datatype {
			d, err := mpi.Predefined(name)
			ok(t, err)
			return d
		}
		for _, x := range []struct {
			name string
			mem  []byte
			want []byte
		}{
			{"MPI_INT", []byte{1, 2, 3, 4}, []byte{4, 3, 2, 1}},
			{"MPI_LONG", binary.LittleEndian.AppendUint64(nil, 0xfffffffffffffffb), []byte{0xff, 0xff, 0xff, 0xfb}},
			{"MPI_INT64_T", []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
			{"MPI_FLOAT", binary.LittleEndian.AppendUint32(nil, math.Float32bits(1)), []byte{0x3f, 0x80, 0, 0}},
			{"MPI_PACKED", []byte{1}, []byte{1}},
			{"MPI_C_DOUBLE_COMPLEX", append(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1)), make([]byte, 8)...),
				append([]byte{0x3f, 0xf0}, make([]byte, 14)...)},
		} {
			d := named(x.name)
			ok(t, f.SetSize(0))
			ok(t, f.SetView(0, d, d, "external32"))
			extent, err := f.TypeExtent(d)
			ok(t, err)
			if extent != int64(len(x.want)) {
				t.Errorf("%s takes %d bytes, want %d", x.name, extent, len(x.want))
			}
			st, err := f.WriteAt(2, mpi.BufOf(x.mem, 1, d))
			ok(t, err)
			if st.Bytes() != int64(len(x.mem)) {
				t.Errorf("%s: wrote %d bytes", x.name, st.Bytes())
			}
			if got := content(t, path); !bytes.Equal(got, append(make([]byte, 2*len(x.want)), x.want...)) {
				t.Errorf("%s is % x in the file, want % x", x.name, got, x.want)
			}
			back := make([]byte, len(x.mem))
			q := f.IreadAt(2, mpi.BufOf(back, 1, d))
			st, err = q.Wait()
			ok(t, err)
			if !bytes.Equal(back, x.mem) || st.Bytes() != int64(len(x.mem)) {
				t.Errorf("%s: read back % x of % x", x.name, back, x.mem)
			}
		}
		ok(t, f.Close())
	})
}

// IO-17, DT-25: file types scale with their elements; what is written by all in external32 by a view
// of columns is, element by element, what a view of the whole reads; the end of the file may be within
// an element of the memory's type.
func TestDT25_IO17_ViewsInExternal32(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const rows = 20
		long, err := mpi.Predefined("MPI_LONG") // 8 bytes here, 4 in the file
		ok(t, err)
		column := committed(mpi.TypeVector(rows, 1, n, long))
		f := openFile(t, c, path, newFile)
		ok(t, f.SetView(int64(4*me), long, column, "external32"))
		mine := make([]int64, rows)
		for i := range mine {
			mine[i] = int64(-i*n - me)
		}
		st, err := f.WriteAll(mpi.BufOf(mine, rows, long))
		ok(t, err)
		if st.Bytes() != 8*rows {
			t.Errorf("wrote %d bytes", st.Bytes())
		}
		at, err := f.ByteOffset(2)
		ok(t, err)
		if at != int64(4*(2*n+me)) {
			t.Errorf("element 2 at byte %d", at)
		}
		ok(t, c.Barrier())
		size, err := f.Size()
		ok(t, err)
		if size != 4*rows*int64(n) {
			t.Errorf("size %d", size)
		}
		ok(t, f.SetView(0, long, long, "external32"))
		pair := committed(mpi.TypeContiguous(7, long))
		all := make([]int64, 7*10)
		st, err = f.ReadAtAll(0, mpi.BufOf(all, 10, pair))
		ok(t, err)
		if k, err := st.Elements(pair); k != rows*n || err != nil {
			t.Errorf("read %d elements, %v", k, err)
		}
		for i := range rows * n {
			if all[i] != int64(-i) {
				t.Fatalf("element %d is %d", i, all[i])
			}
		}
		ok(t, mpi.ReadOrderedBegin(f, all[:1]))
		_, err = f.ReadOrderedEnd()
		ok(t, err)
		ok(t, f.Close())
	})
}

// IO-14, IO-15, IO-16, E2-04: a representation of the program: its names are taken once, its extent function is
// called with predefined types, and its conversion functions get the elements of the access, with their
// type, and the bytes of the file. Other implementations have none.
func TestIO14_IO15_IO16_E2_04_RegisteredRepresentations(t *testing.T) {
	swap := func(dst, src []byte) {
		for i := range src {
			dst[len(src)-1-i] = src[i]
		}
	}
	var asked atomic.Int32
	name := "big-endian-" + strconv.Itoa(rand.Int()) // -count 2 registers another one
	big := mpi.Datarep{
		Extent: func(d mpi.Datatype) (int, error) {
			if !strings.HasPrefix(d.String(), "MPI_") {
				return 0, errors.New("no predefined type")
			}
			asked.Add(1)
			return d.Size()
		},
		Read: func(b mpi.Buffer, file []byte, count, position int) error {
			all, err := mpi.Pack(nil, b)
			for i := range count {
				swap(all[4*(position+i):4*(position+i)+4], file[4*i:4*i+4])
			}
			if err == nil {
				_, err = mpi.Unpack(all, b)
			}
			return err
		},
		Write: func(b mpi.Buffer, file []byte, count, position int) error {
			all, err := mpi.Pack(nil, b)
			if err != nil {
				return err
			}
			for i := range count {
				swap(file[4*i:4*i+4], all[4*(position+i):4*(position+i)+4])
			}
			if all[0] == 0xee {
				return errors.New("the milk is off")
			}
			return nil
		},
	}
	var once sync.Once
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		once.Do(func() { ok(t, mpi.RegisterDatarep(c, name, big)) })
		ok(t, c.Barrier())
		for _, taken := range []string{name, "native", "internal", "external32"} {
			wantClass(t, mpi.RegisterDatarep(c, taken, big), mpi.ErrDupDatarep)
		}
		wantClass(t, mpi.RegisterDatarep(c, strings.Repeat("x", 128), big), mpi.ErrArg)
		wantClass(t, mpi.RegisterDatarep(c, "none", mpi.Datarep{}), mpi.ErrArg)
		me := c.Rank()
		element := typeOf[int32]()
		f := openFile(t, c, path, newFile)
		view := committed(mpi.TypeVector(3, 1, 2, element))
		ok(t, f.SetView(int64(4*me), element, committed(mpi.TypeResized(view, 0, 24)), name))
		every := committed(mpi.TypeVector(2, 1, 2, element))
		mine := []int32{int32(me + 1), 0, int32(me + 3), int32(me + 5), 0, int32(me + 7)}
		st, err := f.WriteAtAll(1, mpi.BufOf(mine, 2, every)) // elements 0, 2, 3 and 5
		ok(t, err)
		if st.Bytes() != 16 || asked.Load() == 0 {
			t.Errorf("wrote %d bytes, %d extents", st.Bytes(), asked.Load())
		}
		ok(t, c.Barrier())
		if b := content(t, path); b[8+4*me+3] != byte(me+1) || b[8+4*me] != 0 {
			t.Errorf("file % x", b)
		}
		back := make([]int32, 6)
		q := f.IreadAt(1, mpi.BufOf(back, 2, every))
		st, err = q.Wait()
		ok(t, err)
		if !slices.Equal(back, mine) || st.Bytes() != 16 {
			t.Errorf("read %v of %v", back, mine)
		}
		q = f.IreadAtAll(1, mpi.BufOf(back, 2, every))
		_, err = q.Wait()
		ok(t, err)
		_, err = mpi.WriteAt(f, 0, []int32{0xee})
		wantClass(t, err, mpi.ErrConversion)
		if err == nil || !strings.Contains(err.Error(), "the milk is off") {
			t.Error(err)
		}
		ok(t, f.Close())
	})
}

// IO-16, IO-07: where the file ends within an element of the memory's type, the functions of the program convert the
// basic elements of it that the file has as a whole; the status counts them, and the others keep what they had.
// Without functions the same holds, and sizes that differ are an error.
func TestIO16_PartOfAnElementAtTheEnd(t *testing.T) {
	// In the file each basic element follows a byte with its size.
	tagged := mpi.Datarep{
		Extent: func(d mpi.Datatype) (int, error) {
			n, err := d.Size()
			return 1 + n, err
		},
		Read: func(b mpi.Buffer, file []byte, count, position int) error {
			all, err := mpi.Pack(nil, b)
			if err != nil {
				return err
			}
			to := 0
			for range count {
				n := int(file[0])
				to += copy(all[to:], file[1:1+n])
				file = file[1+n:]
			}
			if position != 0 || len(file) > 8 { // the function gets what the file has of the next one, too
				return fmt.Errorf("position %d, %d bytes too many", position, len(file))
			}
			_, err = mpi.Unpack(all, b)
			return err
		},
		Write: func(b mpi.Buffer, file []byte, count, position int) error { return errors.New("is not called") },
	}
	name := strconv.Itoa(rand.Int()) // -count 2 registers others
	var once sync.Once
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		once.Do(func() {
			ok(t, mpi.RegisterDatarep(c, "tagged-"+name, tagged))
			ok(t, mpi.RegisterDatarep(c, "same-"+name, mpi.Datarep{Extent: func(d mpi.Datatype) (int, error) { return d.Size() }}))
			ok(t, mpi.RegisterDatarep(c, "none-"+name, mpi.Datarep{Extent: tagged.Extent}))
		})
		type pair struct {
			Wide  int64
			Short int16
		}
		one := map[string][]byte{"tagged-": {8, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0}, "same-": {1, 0, 0, 0, 0, 0, 0, 0, 3, 0}}
		for _, x := range []struct {
			representation string
			bytes          int // of the file
			status         int64
			elements       int
			want           []pair
		}{
			{"tagged-", 24, 20, 4, []pair{{1, 3}, {1, 3}}},
			{"tagged-", 23, 18, 3, []pair{{1, 3}, {1, -1}}},
			{"tagged-", 21, 18, 3, []pair{{1, 3}, {1, -1}}},
			{"tagged-", 20, 10, 2, []pair{{1, 3}, {-1, -1}}},
			{"tagged-", 11, 8, 1, []pair{{1, -1}, {-1, -1}}},
			{"tagged-", 8, 0, 0, []pair{{-1, -1}, {-1, -1}}},
			{"same-", 20, 20, 4, []pair{{1, 3}, {1, 3}}},
			{"same-", 19, 18, 3, []pair{{1, 3}, {1, -1}}},
			{"same-", 9, 8, 1, []pair{{1, -1}, {-1, -1}}},
		} {
			file := slices.Concat(one[x.representation], one[x.representation])
			ok(t, os.WriteFile(path, file[:x.bytes], 0o600))
			f := openFile(t, c, path, mpi.ModeReadWrite)
			ok(t, f.SetView(0, mpi.Byte(), mpi.Byte(), x.representation+name))
			got := []pair{{-1, -1}, {-1, -1}}
			st, err := f.ReadAt(0, mpi.Buf(got))
			ok(t, err)
			elements, err := st.Elements(typeOf[pair]())
			ok(t, err)
			if st.Bytes() != x.status || elements != x.elements || !slices.Equal(got, x.want) {
				t.Errorf("%s, %d bytes: read %v, %d elements of %d bytes, want %v, %d of %d", x.representation, x.bytes, got, elements, st.Bytes(), x.want, x.elements, x.status)
			}
			ok(t, f.SetView(0, mpi.Byte(), mpi.Byte(), "none-"+name))
			_, err = f.ReadAt(0, mpi.Buf(got))
			wantClass(t, err, mpi.ErrConversion)
			_, err = f.WriteAt(0, mpi.Buf(got))
			wantClass(t, err, mpi.ErrConversion)
			ok(t, f.Close())
		}
	})
}
