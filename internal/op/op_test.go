package op

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// random returns count elements: few different values, many of them special.
func random(g *rand.Rand, t Type, count int) []byte {
	b := make([]byte, count*t.Size())
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	value, index := t.Parts()
	for at := 0; at < len(b); at += t.Size() {
		e := b[at : at+t.Size()]
		switch g := g; t.group() {
		case logicals, integers:
			if g.IntN(3) == 0 { // zero, or a value close to it
				clear(e)
				e[g.IntN(len(e))] = byte(g.IntN(2))
			}
		case reals, complexes:
			f := ieeeOf(t)
			for k := 0; k < len(e); k += f.bytes {
				randomReal(g, f, e[k:k+f.bytes])
			}
		case pairs:
			if value.group() == reals {
				randomReal(g, ieeeOf(value), e[:value.Size()])
			} else if g.IntN(2) == 0 {
				clear(e[:value.Size()])
				e[g.IntN(value.Size())] = byte(g.IntN(3)) << 6
			}
			if i := e[t.IndexOffset():][:index.Size()]; index.group() == reals {
				randomReal(g, ieeeOf(index), i)
			} else if g.IntN(2) == 0 {
				clear(i)
				i[0] = byte(g.IntN(3))
			}
		}
	}
	return b
}

// randomReal makes b a number, often one that is close to others, or special.
func randomReal(g *rand.Rand, f ieee, b []byte) {
	u := low(bigInt(b), 1+f.exponent+f.stored())
	exponent := func(e int) {
		for k := range int(f.exponent) {
			u.SetBit(u, int(f.stored())+k, uint(e>>k&1))
		}
		if f.explicit {
			u.SetBit(u, int(f.fraction), min(uint(e), 1))
		}
	}
	fraction := func(kept uint) { // only the highest bits of it
		for k := range f.fraction - kept {
			u.SetBit(u, int(k), 0)
		}
	}
	switch g.IntN(12) {
	case 0: // any valid encoding
		if f.explicit {
			exponent(1 + g.IntN(1<<f.exponent-2))
		}
	case 1:
		exponent(0)
		fraction(0)
	case 2: // subnormal
		exponent(0)
	case 3:
		exponent(1<<f.exponent - 1)
		fraction(0)
	case 4: // NaN, quiet or not
		exponent(1<<f.exponent - 1)
		u.SetBit(u, 0, 1)
	case 5:
		exponent(f.bias() + g.IntN(3) - 1)
		fraction(2)
	case 6: // the product of two is close to the least number
		exponent(max(0, f.bias()/2-int(f.fraction)/2+g.IntN(int(f.fraction))))
	case 7, 8: // a few bits: products are close to the middle between two numbers
		exponent(f.bias() + g.IntN(9) - 4)
		fraction(0)
		for range 3 {
			u.SetBit(u, g.IntN(int(f.fraction)), 1)
		}
	default:
		exponent(f.bias() + g.IntN(9) - 4)
		if g.IntN(2) == 0 {
			fraction(f.fraction / 2)
		}
	}
	copy(b, bytesOf(u, len(b)))
}

// legal calls f for all operations on all types on which they are defined.
func legal(f func(o Op, t Type)) {
	for o := Op(1); int(o) <= Ops; o++ {
		for _, t := range All() {
			if CheckAccumulate(o, t) == nil {
				f(o, t)
			}
		}
	}
}

// unaligned returns size bytes at any alignment, with other bytes before and after.
func unaligned(g *rand.Rand, content []byte) (inside, whole []byte) {
	at := 64 + g.IntN(64)
	whole = make([]byte, at+len(content)+64)
	for i := range whole {
		whole[i] = byte(i)
	}
	inside = whole[at : at+len(content)]
	copy(inside, content)
	return inside, whole
}

// COL-14, DT-05, X-TYP-01, BRD-03: every operation on every type is equal to its definition: by every
// kernel of this machine, at lengths that leave any tail of a vector, with operands at any
// alignment, also in place. No other bytes change, nor do those in gaps of the elements.
func TestCOL14_ApplyEqualsDefinition(t *testing.T) {
	for _, k := range Kernels() {
		t.Run(k.String(), func(t *testing.T) {
			g := rand.New(rand.NewPCG(1, 2))
			legal(func(o Op, typ Type) {
				for count := range 68 {
					if count > 9 && typ.group() != integers && ieeeOf(typ).bytes == 16 && g.IntN(12) > 0 {
						continue // there are no vectors, and the oracle is slow
					}
					testKernel(t, k, g, o, typ, count)
				}
			})
		})
	}
}

func testKernel(t *testing.T, k Kernel, g *rand.Rand, o Op, typ Type, count int) {
	t.Helper()
	size := typ.Size()
	a, wholeA := unaligned(g, random(g, typ, count))
	b, wholeB := unaligned(g, random(g, typ, count))
	beforeA, beforeB := bytes.Clone(wholeA), bytes.Clone(wholeB)
	dst, wholeDst := unaligned(g, random(g, typ, count))
	beforeDst := bytes.Clone(wholeDst)
	gapsStay := func(after, before []byte) {
		t.Helper()
		for i := range after {
			if inGap(typ, i) && after[i] != before[i] {
				t.Fatalf("%v of %v, %d by %v: byte %d, which is no data, was %#x and is %#x", o, typ, count, k, i, before[i], after[i])
			}
		}
	}
	k.Apply(o, typ, dst, a, b)
	for at := 0; at < len(a); at += size {
		want := oracle(o, typ, a[at:at+size], b[at:at+size])
		if got := dst[at : at+size]; !agrees(typ, got, want) {
			t.Fatalf("%v of %v, element %d of %d by %v: %x and %x give %x, want %x",
				o, typ, at/size, count, k, a[at:at+size], b[at:at+size], got, want)
		}
	}
	if !bytes.Equal(wholeA, beforeA) || !bytes.Equal(wholeB, beforeB) {
		t.Fatalf("%v of %d %v by %v changes an operand", o, count, typ, k)
	}
	gapsStay(dst, beforeDst[len(wholeDst)-64-len(dst):])
	copy(beforeDst[len(wholeDst)-64-len(dst):], dst)
	if !bytes.Equal(wholeDst, beforeDst) {
		t.Fatalf("%v of %d %v by %v writes beside the result", o, count, typ, k)
	}
	loops := make([]byte, len(a))
	Apply(o, typ, loops, a, b)
	left, right := bytes.Clone(a), bytes.Clone(b)
	k.Apply(o, typ, left, left, b)
	k.Apply(o, typ, right, a, right)
	gapsStay(left, a)
	gapsStay(right, b)
	all := dataOf(typ, dst, 0)
	if !bytes.Equal(dataOf(typ, loops, 0), all) || !bytes.Equal(dataOf(typ, left, 0), all) || !bytes.Equal(dataOf(typ, right, 0), all) {
		t.Fatalf("%v of %d %v by %v: %x, by loops %x, into the left %x, into the right %x", o, count, typ, k, dst, loops, left, right)
	}
}

// Many iterations of the unrolled loops, and the rest after them.
func TestLongSlices(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	for _, k := range Kernels()[1:] {
		legal(func(o Op, typ Type) {
			if !k.Covers(o, typ) {
				return
			}
			count := 3000 + g.IntN(100)
			a, b := random(g, typ, count), random(g, typ, count)
			got, want := make([]byte, len(a)), make([]byte, len(a))
			Apply(o, typ, want, a, b)
			k.Apply(o, typ, got, a, b)
			if !bytes.Equal(got, want) {
				t.Errorf("%v of %d %v by %v differs from the loops", o, count, typ, k)
			}
		})
	}
}

// Sum, prod, min, max, and, or, xor on integers of 8 to 64 bits and on
// float32 and float64 have vector kernels; arm64 has no product of 64 bits.
func TestKernelsCover(t *testing.T) {
	for _, k := range Kernels()[1:] {
		for o := Sum; o <= Bxor; o++ {
			for typ := Int8; typ <= Float64; typ++ {
				want := Check(o, typ) == nil && o != Land && o != Lor && o != Lxor
				if k == NEON && o == Prod && (typ == Int64 || typ == Uint64) {
					want = false
				}
				if got := k.Covers(o, typ); got != want {
					t.Errorf("%v covers %v of %v: %t, want %t", k, o, typ, got, want)
				}
			}
		}
	}
	for _, k := range Kernels() { // Whole relies on this property
		for o := range 256 {
			for typ := range 256 {
				if o, typ := Op(o), Type(typ); k.Covers(o, typ) && Check(o, typ) != nil {
					t.Errorf("%v covers %v of %v, which is not defined", k, o, typ)
				}
			}
		}
	}
	if Loops.Covers(Sum, Int32) || Kernels()[0] != Loops || BestKernel() != Kernels()[len(Kernels())-1] {
		t.Error("loops are vectors, or are not the first kernel, or the best is not the last")
	}
}

// A kernel is chosen by name. An unknown kernel, or one that the machine lacks, is an error that
// lists the available ones.
func TestParseKernel(t *testing.T) {
	for _, k := range Kernels() {
		if got, err := ParseKernel(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if k, err := ParseKernel(""); k != BestKernel() || err != nil {
		t.Errorf("nothing: %v, %v", k, err)
	}
	for k := Loops; k < kernels; k++ {
		if _, err := ParseKernel(k.String()); !slices.Contains(Kernels(), k) && (err == nil || !strings.Contains(err.Error(), "no "+k.String()+" here")) {
			t.Errorf("%v, which is not here: %v", k, err)
		}
	}
	if _, err := ParseKernel("mmx"); err == nil || !strings.Contains(err.Error(), `"mmx" is none of go, avx2, avx512, neon`) {
		t.Errorf("mmx: %v", err)
	}
}

// 6.9.2, 6.9.4, DT-06: the table of the operations that are defined on each type.
func TestCheckNamesOperationAndType(t *testing.T) {
	legal, located := 0, 0
	types := append(All(), 0, simple, Pair(Int8, Int8), Pair(Complex64, Int32), Pair(Float32, Float64), Pair(Bool, Int32))
	for o := Op(0); o <= NoOp+1; o++ {
		for _, typ := range types {
			err := Check(o, typ)
			switch {
			case err == nil && typ.group() == pairs:
				located++
				continue
			case err == nil:
				legal++
				continue
			}
			var ce *class.Error
			if !errors.As(err, &ce) || ce.Class != class.Op {
				t.Fatalf("%v on %v: %v", o, typ, err)
			}
			if o != 0 && !strings.Contains(err.Error(), o.String()) ||
				o != 0 && o < Replace && !strings.Contains(err.Error(), typ.String()) {
				t.Errorf("error does not name both: %v", err)
			}
		}
	}
	if want := 9*10 + 5*4 + 5*2 + 5*3 + 1*3; legal != want {
		t.Errorf("%d legal pairs, want %d", legal, want)
	}
	if want := 2 * (12*2 + 2); located != want { // 12 values, two indexes; 2REAL, 2DOUBLE_PRECISION
		t.Errorf("%d legal pairs with a location, want %d", located, want)
	}
	for _, p := range []struct {
		o Op
		t Type
	}{{Band, Float64}, {Land, Float32}, {Min, Complex64}, {Sum, Bool}, {Band, Bool}, {Sum, Byte}, {Land, Byte},
		{Sum, Pair(Float64, Int32)}, {Minloc, Float64}, {Replace, Int32}, {NoOp, Int32}} {
		if Check(p.o, p.t) == nil {
			t.Errorf("%v on %v is accepted", p.o, p.t)
		}
	}
	for _, typ := range All() {
		if CheckAccumulate(Replace, typ) != nil || CheckAccumulate(NoOp, typ) != nil {
			t.Errorf("%v cannot be replaced", typ)
		}
	}
	if CheckAccumulate(Replace, simple) == nil || CheckAccumulate(Sum, Bool) == nil || CheckAccumulate(Max, Float64) != nil {
		t.Error("CheckAccumulate")
	}
}

// DT-05: pairs have the layout of structs in C.
func TestDT05_PairsAreStructs(t *testing.T) {
	for _, x := range []struct {
		p        Type
		at, size int
	}{
		{Pair(Float32, Int32), 4, 8}, {Pair(Float64, Int32), 8, 16}, {Pair(Int64, Int32), 8, 16}, {Pair(Int32, Int32), 4, 8},
		{Pair(Int16, Int32), 4, 8}, {Pair(Float80, Int32), 16, 32}, {Pair(Float128, Int32), 16, 32}, {Pair(Int8, Int64), 8, 16},
		{Pair(Float64, Int64), 8, 16}, {Pair(Float32, Float32), 4, 8}, {Pair(Float64, Float64), 8, 16},
	} {
		if x.p.IndexOffset() != x.at || x.p.Size() != x.size {
			t.Errorf("%v: index at %d of %d bytes, want %d of %d", x.p, x.p.IndexOffset(), x.p.Size(), x.at, x.size)
		}
	}
}

// A reduction of no elements, with no operation and no type, does nothing: a barrier does this.
func TestNothing(t *testing.T) {
	for _, k := range Kernels() {
		k.Apply(0, 0, nil, nil, nil)
	}
}

func TestApplyDoesNotAllocate(t *testing.T) {
	k := BestKernel()
	a, b := make([]byte, 160), make([]byte, 160)
	legal(func(o Op, typ Type) {
		if n := testing.AllocsPerRun(10, func() { k.Apply(o, typ, a, a, b) }); n != 0 {
			t.Errorf("%v on %v: %v allocations", o, typ, n)
		}
	})
}

// FuzzKernels compares every kernel with the oracle on the same bytes.
func FuzzKernels(f *testing.F) {
	f.Add(uint8(Sum), uint16(Float64), []byte("some numbers that are 64 bytes long, of which half go to the left"))
	f.Add(uint8(Maxloc), uint16(Pair(Float64, Int32)), make([]byte, 96))
	f.Add(uint8(Sum), uint16(Complex160), bytes.Repeat([]byte("0"), 64)) // invalid encodings
	f.Fuzz(func(t *testing.T, o uint8, typ uint16, data []byte) {
		op, elem := Op(o), Type(typ)
		if CheckAccumulate(op, elem) != nil || len(data) > 4096 {
			return
		}
		size := elem.Size()
		n := len(data) / 2 / size * size
		a, b := data[:n], data[n:2*n]
		want := make([]byte, n)
		Apply(op, elem, want, a, b)
		for at := 0; at < n; at += size {
			if w := oracle(op, elem, a[at:at+size], b[at:at+size]); !agrees(elem, want[at:at+size], w) {
				t.Fatalf("%v of %v: %x and %x give %x, want %x", op, elem, a[at:at+size], b[at:at+size], want[at:at+size], w)
			}
		}
		for _, k := range Kernels()[1:] {
			got := make([]byte, n)
			k.Apply(op, elem, got, a, b)
			if !bytes.Equal(got, want) {
				t.Fatalf("%v of %v by %v: %x, by loops %x", op, elem, k, got, want)
			}
		}
	})
}

// Bytes per second; one operand is also the result.
func BenchmarkApply(b *testing.B) {
	for _, k := range Kernels() {
		for _, o := range []Op{Sum, Prod, Max, Band} {
			for _, typ := range []Type{Float64, Float32, Int64, Int32, Uint8} {
				if Check(o, typ) != nil {
					continue
				}
				for _, size := range []int{8, 100, 4096, 1 << 20, 64 << 20} {
					b.Run(fmt.Sprintf("%v/%v/%v/%d", o, typ, k, size), func(b *testing.B) {
						x, y := make([]byte, size), make([]byte, size)
						b.SetBytes(int64(size))
						b.ReportAllocs()
						for b.Loop() {
							k.Apply(o, typ, y, x, y)
						}
					})
				}
			}
		}
	}
}
