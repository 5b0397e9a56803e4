package op

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// environments returns the environments that programs use: each direction, with and without
// flushing of subnormal numbers, and with each precision of the x87.
func environments() []Env {
	var list []Env
	for _, d := range []Env{0, RoundDown, RoundUp, RoundToZero} {
		for _, flush := range []Env{0, FlushResults, FlushOperands, FlushResults | FlushOperands} {
			for _, precision := range []Env{0, x87Double, x87Single} {
				list = append(list, d|flush|d<<x87Round|precision<<x87Precision)
			}
		}
	}
	return list
}

// Sums and products in every environment are equal to their definition: by every kernel, at
// lengths that leave any tail, with operands at any alignment, also in place. Operations in Go's
// environment, before and after, do not change.
func TestCOL14_EnvironmentsEqualDefinition(t *testing.T) {
	for _, k := range slices.Compact([]Kernel{Loops, BestKernel()}) { // they differ in the rest of a block
		t.Run(k.String(), func(t *testing.T) {
			g := rand.New(rand.NewPCG(3, 4))
			for _, e := range environments() {
				for _, typ := range All() {
					for _, o := range []Op{Sum, Prod} {
						if g := typ.group(); g != reals && g != complexes || e>>x87Precision != 0 && !ieeeOf(typ).explicit {
							continue
						}
						for _, count := range []int{1, 3, 7, 21} {
							if count > 3 && ieeeOf(typ).bytes == 16 && g.IntN(12) > 0 {
								continue // the oracle is slow
							}
							testKernel(t, k, g, o.In(e), typ, count)
						}
					}
				}
			}
			testKernel(t, k, g, Sum, Float64, 40)
		})
	}
}

// Only sums and products of floating-point numbers depend on the environment, and by one bit logical
// operations on Fortran's logicals, also if a frame specifies an environment for another operation.
func TestCOL14_EnvironmentsOfOthers(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	legal(func(o Op, typ Type) {
		e := Env(1 + g.IntN(255))
		if typ.group() == logicals && typ != Bool {
			e &^= AllOnes
		}
		rounds := (o == Sum || o == Prod) && (typ.group() == reals || typ.group() == complexes)
		if on := o.In(e).On(typ); on.Bare() != o || !rounds && on != o {
			t.Errorf("%v of %v in %#x is %#x", o, typ, e, on)
		}
		if !rounds {
			testKernel(t, BestKernel(), g, o.In(e), typ, 3)
		}
		if got, want := Check(o.In(e), typ), Check(o, typ); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v of %v in %#x: %v, not %v", o, typ, e, got, want)
		}
	})
}

// Word gives for one element in a register the same as Apply in memory.
func TestCOL14_WordsInEnvironments(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 8))
	for _, e := range environments() {
		for _, typ := range []Type{Float16, Float32, Float64, Complex32, Complex64} {
			for _, o := range []Op{Sum, Prod} {
				for range 20 {
					var left, right uint64
					size := typ.Size()
					copy(low64(&left)[:], random(g, typ, 1))
					copy(low64(&right)[:], random(g, typ, 1))
					got := Word(o.In(e), typ, left, right)
					if want := oracle(o.In(e), typ, low64(&left)[:size], low64(&right)[:size]); !agrees(typ, low64(&got)[:size], want) {
						t.Errorf("%v of %v in %#x: %x and %x give %x, not %x", o, typ, e, left, right, got, want)
					}
				}
			}
		}
	}
}

// Where true has all bits set, so have the true results of logical operations on Fortran's logicals:
// in registers and in memory, of any length. C's bool stays 0 or 1.
func TestDT02_LogicalsOfAllOnes(t *testing.T) {
	truth := func(o Op, a, b bool) bool {
		switch o {
		case Land:
			return a && b
		case Lor:
			return a || b
		}
		return a != b
	}
	for _, typ := range []Type{Bool, Bool16, Bool32, Bool64, Bool128} {
		size, yes := typ.Size(), byte(0xff)
		value := func(v bool) []byte {
			b := make([]byte, size)
			switch {
			case v && typ == Bool:
				b[0] = 1
			case v:
				for i := range b {
					b[i] = yes
				}
			}
			return b
		}
		for _, o := range []Op{Land, Lor, Lxor} {
			of := o.In(AllOnes).On(typ)
			for _, count := range []int{1, 7, 200} {
				var left, right, want []byte
				for i := range count {
					a, b := i%2 == 0, i%3 == 0
					left, right, want = append(left, value(a)...), append(right, value(b)...), append(want, value(truth(o, a, b))...)
				}
				got := make([]byte, len(want))
				BestKernel().Apply(of, typ, got, left, right)
				if !bytes.Equal(got, want) {
					t.Errorf("%v of %d %v: %x and %x give %x, not %x", o, count, typ, left, right, got, want)
				}
				if count == 1 && size <= 8 {
					var x, y uint64
					copy(low64(&x)[:], left)
					copy(low64(&y)[:], right)
					if z := Word(of, typ, x, y); !bytes.Equal(low64(&z)[:size], want) {
						t.Errorf("%v of a word of %v: %x, not %x", o, typ, z, want)
					}
				}
			}
		}
	}
}
