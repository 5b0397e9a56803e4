package dtype

import (
	"fmt"
	"testing"
)

// shapes are the layouts of the performance goals, and some similar ones. A C program
// that packs the same layouts with MPI_Pack measures other MPI implementations.
func shapes(t testing.TB) []struct {
	name  string
	typ   *Type
	count int64
} {
	set := Predefined()
	d := set.Type(Double)
	type shape = struct {
		name  string
		typ   *Type
		count int64
	}
	var out []shape
	add := func(name string, count int64, typ *Type, err error) {
		out = append(out, shape{name, must(t)(typ, err), count})
	}
	for _, n := range []int64{64, 4096, 1 << 20} {
		v, err := Vector(n, 1, 2, d)
		add(fmt.Sprintf("vector1x2/%d", n), 1, v, err)
		v, err = Vector(n/8, 8, 16, d)
		add(fmt.Sprintf("vector8x16/%d", n), 1, v, err)
	}
	for _, n := range []int64{32, 128, 130} {
		all := []int64{n, n, n}
		for k := range 3 {
			sub, start := []int64{n, n, n}, []int64{0, 0, 0}
			sub[k], start[k] = 1, n/2
			s, err := Subarray(all, sub, start, OrderC, d)
			add(fmt.Sprintf("face%d/%d", k, n), 1, s, err)
		}
		s, err := Subarray(all, []int64{n - 2, n - 2, 2}, []int64{1, 1, 1}, OrderC, d)
		add(fmt.Sprintf("halo2/%d", n), 1, s, err)
		s, err = Subarray(all, []int64{n - 2, n - 2, n - 2}, []int64{1, 1, 1}, OrderC, d)
		add(fmt.Sprintf("inner/%d", n), 1, s, err)
	}
	// struct { int id; double x[3]; float m; char c[3]; }
	s, err := Struct([]int64{1, 3, 1, 3}, []int64{0, 8, 32, 36}, []*Type{set.Type(Int), d, set.Type(Float), set.Type(Char)})
	for _, n := range []int64{64, 4096, 65536} {
		add(fmt.Sprintf("struct/%d", n), n, s, err)
	}
	displs := make([]int64, 1000)
	for i := range displs {
		displs[i] = int64(i) * 3
		if i%5 == 0 {
			displs[i]++
		}
	}
	x, err := IndexedBlock(1, displs, d)
	add("indexed1/1000", 1, x, err)
	c, err := Contiguous(1<<17, d)
	add("contiguous/1M", 1, c, err)
	c, err = Contiguous(1<<11, d)
	add("contiguous/16K", 1, c, err)
	return out
}

// aligned is memory that begins at a cache line, as in the C program.
func aligned(n int64) []byte { return make([]byte, (n+4095)/4096*4096)[:n] }

func BenchmarkPack(b *testing.B) {
	benchmark(b, func(buf Buffer, wire []byte) { buf.Pack(wire, 0) })
}

func BenchmarkUnpack(b *testing.B) {
	benchmark(b, func(buf Buffer, wire []byte) { buf.Unpack(wire, 0) })
}

// The same layouts in frames of 8 KiB, each from any byte on: the cost of a pipelined transfer.
func BenchmarkPackFrames(b *testing.B) {
	benchmark(b, func(buf Buffer, wire []byte) {
		for at := int64(0); at < buf.Size(); {
			at += int64(buf.Pack(wire[at:min(at+8192, buf.Size())], at))
		}
	})
}

func benchmark(b *testing.B, move func(buf Buffer, wire []byte)) {
	for _, s := range shapes(b) {
		b.Run(s.name, func(b *testing.B) {
			lb, ex := s.typ.Extent()
			mem, wire := aligned(lb+s.count*ex), aligned(s.count*s.typ.Size())
			for i := range mem {
				mem[i] = 1
			}
			for i := range wire {
				wire[i] = 2
			}
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				buf, err := Bind(mem, 0, s.typ, s.count)
				if err != nil {
					b.Fatal(err)
				}
				move(buf, wire)
			}
		})
	}
}

func BenchmarkBind(b *testing.B) {
	s := shapes(b)[0]
	mem := aligned(2048)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Bind(mem, 0, s.typ, 1); err != nil {
			b.Fatal(err)
		}
	}
}
