package op

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// kinds gives a Go value for each type.
func goType(t Type) reflect.Type {
	return map[Type]reflect.Type{
		Bool: reflect.TypeFor[bool](), Int8: reflect.TypeFor[int8](), Int16: reflect.TypeFor[int16](),
		Int32: reflect.TypeFor[int32](), Int64: reflect.TypeFor[int64](), Uint8: reflect.TypeFor[uint8](),
		Uint16: reflect.TypeFor[uint16](), Uint32: reflect.TypeFor[uint32](), Uint64: reflect.TypeFor[uint64](),
		Float32: reflect.TypeFor[float32](), Float64: reflect.TypeFor[float64](),
		Complex64: reflect.TypeFor[complex64](), Complex128: reflect.TypeFor[complex128](),
	}[t]
}

// value reads element i of b.
func value(t Type, b []byte, i int) reflect.Value {
	v := reflect.New(goType(t)).Elem()
	at := b[i*t.Size():]
	var u uint64
	for k := t.Size() - 1; k >= 0 && t != Complex128; k-- {
		u = u<<8 | uint64(at[k])
	}
	switch {
	case t == Bool:
		v.SetBool(u != 0)
	case v.CanInt():
		shift := 64 - 8*t.Size()
		v.SetInt(int64(u<<shift) >> shift)
	case v.CanUint():
		v.SetUint(u)
	case t == Float32:
		v.SetFloat(float64(math.Float32frombits(uint32(u))))
	case t == Float64:
		v.SetFloat(math.Float64frombits(u))
	case t == Complex64:
		v.SetComplex(complex(value(Float32, at, 0).Float(), value(Float32, at, 1).Float()))
	case t == Complex128:
		v.SetComplex(complex(value(Float64, at, 0).Float(), value(Float64, at, 1).Float()))
	}
	return v
}

// serial is a op b by the definition in the standard, in the widest arithmetic.
func serial(o Op, a, b reflect.Value) reflect.Value {
	r := reflect.New(a.Type()).Elem()
	switch {
	case a.Kind() == reflect.Bool:
		x, y := a.Bool(), b.Bool()
		r.SetBool(map[Op]bool{Land: x && y, Lor: x || y, Lxor: x != y}[o])
	case a.CanInt():
		r.SetInt(narrow(integer64(o, a.Int(), b.Int()), a.Type().Bits()))
	case a.CanUint():
		r.SetUint(integer64(o, a.Uint(), b.Uint()) << (64 - a.Type().Bits()) >> (64 - a.Type().Bits()))
	case a.CanFloat():
		r.SetFloat(real64(o, a.Float(), b.Float()))
	default:
		if o == Sum {
			r.SetComplex(a.Complex() + b.Complex())
		} else if a.Type().Bits() == 64 {
			r.SetComplex(complex128(complex64(a.Complex()) * complex64(b.Complex())))
		} else {
			r.SetComplex(a.Complex() * b.Complex())
		}
	}
	return r
}

func narrow(x int64, bits int) int64 { return x << (64 - bits) >> (64 - bits) }

func integer64[T int64 | uint64](o Op, x, y T) T {
	bit := func(b bool) T {
		if b {
			return 1
		}
		return 0
	}
	switch o {
	case Sum:
		return x + y
	case Prod:
		return x * y
	case Min:
		return min(x, y)
	case Max:
		return max(x, y)
	case Land:
		return bit(x != 0 && y != 0)
	case Lor:
		return bit(x != 0 || y != 0)
	case Lxor:
		return bit(x != 0 != (y != 0))
	case Band:
		return x & y
	case Bor:
		return x | y
	}
	return x ^ y
}

func real64(o Op, x, y float64) float64 {
	switch o {
	case Min, Max:
		if x != x || y != y {
			return math.NaN() // math.Min prefers an infinity
		}
	}
	switch o {
	case Sum:
		return x + y
	case Prod:
		return x * y
	case Min:
		return math.Min(x, y)
	}
	return math.Max(x, y)
}

// same compares with NaNs equal and zeros told apart.
func same(a, b reflect.Value) bool {
	part := func(x, y float64) bool {
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	}
	switch {
	case a.CanFloat():
		return part(a.Float(), b.Float())
	case a.CanComplex():
		x, y := a.Complex(), b.Complex()
		return part(real(x), real(y)) && part(imag(x), imag(y))
	}
	return a.Interface() == b.Interface()
}

// random is count elements; floating-point ones are often special.
func random(g *rand.Rand, t Type, count int) []byte {
	b := make([]byte, count*t.Size())
	for i := range b {
		b[i] = byte(g.Uint32())
		if t == Bool || g.IntN(3) == 0 {
			b[i] &= 1
		}
	}
	if t >= Float32 {
		w := 4 // of a real number
		if t == Float64 || t == Complex128 {
			w = 8
		}
		special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1.5, 1e30}
		for i := 0; i < len(b); i += w {
			x := special[g.IntN(len(special))]
			switch {
			case g.IntN(2) == 0:
			case w == 4:
				view[float32](b[i : i+4])[0] = float32(x)
			default:
				view[float64](b[i : i+8])[0] = x
			}
		}
	}
	return b
}

// 6.9.2: every operation on every type is what its definition says, also in place.
func TestApplyEqualsDefinition(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for o := Sum; o <= Bxor; o++ {
		for typ := Bool; typ <= Complex128; typ++ {
			if Check(o, typ) != nil {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", o, typ), func(t *testing.T) {
				for _, count := range []int{0, 1, 2, 3, 7, 8, 33, 200} {
					a, b, dst := random(g, typ, count), random(g, typ, count), make([]byte, count*typ.Size())
					Apply(o, typ, dst, a, b)
					for i := range count {
						x, y := value(typ, a, i), value(typ, b, i)
						if got, want := value(typ, dst, i), serial(o, x, y); !same(got, want) {
							t.Fatalf("%v %v %v = %v, want %v", x, o, y, got, want)
						}
					}
					left, right := bytes.Clone(a), bytes.Clone(b)
					Apply(o, typ, left, left, b)
					Apply(o, typ, right, a, right)
					if !bytes.Equal(left, dst) || !bytes.Equal(right, dst) {
						t.Fatalf("%d elements in place differ", count)
					}
				}
			})
		}
	}
}

// 6.9.2: the table of which operation is defined on which type.
func TestCheckNamesOperationAndType(t *testing.T) {
	legal := 0
	for o := Op(0); o <= Bxor+1; o++ {
		for typ := Type(0); typ <= Complex128+1; typ++ {
			err := Check(o, typ)
			if err == nil {
				legal++
				continue
			}
			var ce *class.Error
			if !errors.As(err, &ce) || ce.Class != class.Op {
				t.Fatalf("%v on %v: %v", o, typ, err)
			}
			if !strings.Contains(err.Error(), o.String()) || !strings.Contains(err.Error(), typ.String()) {
				t.Errorf("error does not name both: %v", err)
			}
		}
	}
	if want := 3 + 8*10 + 2*4 + 2*2; legal != want {
		t.Errorf("%d legal pairs, want %d", legal, want)
	}
	for _, p := range []struct {
		o Op
		t Type
	}{{Band, Float64}, {Land, Float32}, {Min, Complex64}, {Sum, Bool}, {Band, Bool}} {
		if Check(p.o, p.t) == nil {
			t.Errorf("%v on %v is accepted", p.o, p.t)
		}
	}
}

func TestApplyDoesNotAllocate(t *testing.T) {
	a, b := make([]byte, 64), make([]byte, 64)
	for o := Sum; o <= Bxor; o++ {
		for typ := Bool; typ <= Complex128; typ++ {
			if Check(o, typ) == nil {
				if n := testing.AllocsPerRun(10, func() { Apply(o, typ, a, a, b) }); n != 0 {
					t.Errorf("%v on %v: %v allocations", o, typ, n)
				}
			}
		}
	}
}

// Bytes per second, one operand being the result.
func BenchmarkApply(b *testing.B) {
	for _, o := range []Op{Sum, Max} {
		for _, typ := range []Type{Float64, Float32, Int32, Uint8} {
			for _, size := range []int{8, 4096, 1 << 20} {
				b.Run(fmt.Sprintf("%v/%v/%d", o, typ, size), func(b *testing.B) {
					x, y := make([]byte, size), make([]byte, size)
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						Apply(o, typ, x, x, y)
					}
				})
			}
		}
	}
}
