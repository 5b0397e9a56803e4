package mpi_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// operations are the predefined operations, indexed by their values in package op.
func operations() []mpi.Op {
	return []mpi.Op{
		op.Sum: mpi.Sum, op.Prod: mpi.Prod, op.Min: mpi.Min, op.Max: mpi.Max, op.Land: mpi.Land, op.Lor: mpi.Lor,
		op.Lxor: mpi.Lxor, op.Band: mpi.Band, op.Bor: mpi.Bor, op.Bxor: mpi.Bxor, op.Minloc: mpi.Minloc,
		op.Maxloc: mpi.Maxloc, op.Replace: mpi.Replace, op.NoOp: mpi.NoOp,
	}
}

// types are all predefined types.
var types = dtype.Predefined()

// A reducibleType is a datatype, and the same type in package dtype.
type reducibleType struct {
	mpi.Datatype
	engine *dtype.Type
}

// reducible are all predefined types and their duplicates, some of those chosen by parameters,
// and a derived one.
func reducible() (list []reducibleType) {
	add := func(d mpi.Datatype, t *dtype.Type) {
		if err := d.Commit(); err != nil {
			panic(err)
		}
		list = append(list, reducibleType{d, t})
	}
	types.Each(func(id dtype.ID, t *dtype.Type) {
		d := must(mpi.Predefined(t.Name()))
		add(d, t)
		add(must(d.Dup()), t)
	})
	add(must(mpi.TypeF90Integer(30)), must(types.F90Integer(30)))
	add(must(mpi.TypeF90Real(20, 400)), must(types.F90Real(20, 400)))
	add(must(mpi.TypeF90Complex(10, mpi.Undefined)), must(types.F90Complex(10, dtype.Undefined)))
	double, long := types.Type(dtype.Double), types.Type(dtype.Int64)
	add(must(mpi.TypeValueIndex(must(mpi.Predefined("MPI_DOUBLE")), must(mpi.Predefined("MPI_INT64_T")))), must(types.ValueIndex(double, long)))
	add(must(mpi.TypeContiguous(1, must(mpi.Predefined("MPI_DOUBLE")))), must(dtype.Contiguous(1, double)))
	return list
}

// COL-14, DT-06, CHG-08, X-TYP-01: every predefined operation on every predefined type either has the
// result that package op, which has a separate oracle, computes from the operands in the order
// of the ranks, or is ErrOp and names both.
func TestCOL14_EveryOperationOnEveryType(t *testing.T) {
	all := reducible()
	counts := []int{1, 5}
	if testrun.Race {
		counts = counts[1:]
	}
	var legal atomic.Int64
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		for i, operation := range operations()[1:] {
			o := op.Op(i + 1)
			for _, x := range all {
				d, typ := x.Datatype, op.For(x.engine)
				lb, extent, err := d.Extent()
				if err != nil || lb != 0 {
					t.Fatal(err)
				}
				for _, count := range counts {
					operand := func(r int) []byte {
						g := rand.New(rand.NewPCG(uint64(o)<<16|uint64(typ), uint64(10*count+r)))
						b := make([]byte, count*extent)
						for i := range b {
							b[i] = byte(g.Uint32())
							if typ == op.Float80 || typ == op.Complex160 || typ == op.Pair(op.Float80, op.Int32) {
								b[i] &= 0x7f // no NaNs
							}
						}
						return b
					}
					mine, recv, local := operand(me), make([]byte, count*extent), operand(1)
					err := c.Allreduce(mpi.BufOf(mine, count, d), mpi.BufOf(recv, count, d), operation)
					localErr := operation.ReduceLocal(mpi.BufOf(operand(0), count, d), mpi.BufOf(local, count, d))
					if _, why := op.CheckFor(o, x.engine); why != nil {
						for _, err := range []error{err, localErr} {
							if !errors.Is(err, mpi.ErrOp) || o != op.Replace && o != op.NoOp && !strings.Contains(err.Error(), d.String()) || !strings.Contains(err.Error(), o.String()) {
								t.Errorf("%v on %v: %v, want ErrOp", o, d, err)
							}
						}
						continue
					}
					want := make([]byte, len(recv))
					op.Apply(o, typ, want, operand(0), operand(1))
					inPlace := operand(1) // what is in gaps stays
					op.Apply(o, typ, inPlace, operand(0), inPlace)
					legal.Add(1)
					if err != nil || localErr != nil || !bytes.Equal(recv, want) || !bytes.Equal(local, inPlace) {
						t.Errorf("%v on %d x %v: % x, %v; locally % x, %v; want % x and % x", o, count, d, recv, err, local, localErr, want, inPlace)
					}
				}
			}
		}
	})
	if legal.Load() == 0 {
		t.Error("nothing is legal")
	}
}

// real16 is x in IEEE's binary128.
func real16(x *big.Float) []byte {
	f := new(big.Float).SetPrec(113).Set(x)
	exp := f.MantExp(nil) - 1
	frac, _ := new(big.Float).SetMantExp(new(big.Float).Abs(f), 112-exp).Int(nil)
	frac.SetBit(frac, 112, 0)
	frac.Or(frac, new(big.Int).Lsh(big.NewInt(int64(exp+16383)), 112))
	b := frac.FillBytes(make([]byte, 16))
	for i := range 8 {
		b[i], b[15-i] = b[15-i], b[i]
	}
	return b
}

func fromReal16(b []byte) *big.Float {
	hi, lo := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b)
	frac := new(big.Int).Or(new(big.Int).Lsh(new(big.Int).SetUint64(hi&(1<<48-1)|1<<48), 64), new(big.Int).SetUint64(lo))
	return new(big.Float).SetMantExp(new(big.Float).SetPrec(200).SetInt(frac), int(hi>>48)-16383-112)
}

// DT-03, DT-21: sums of REAL(16) have 33 digits, as MPI_REAL16 and as the type that Fortran
// chooses by precision, which need not be committed.
func TestDT03_QuadrupleSum(t *testing.T) {
	for _, d := range []mpi.Datatype{must(mpi.Predefined("MPI_REAL16")), must(mpi.TypeF90Real(33, mpi.Undefined))} {
		if !d.Committed() {
			t.Fatalf("%v has to be committed", d)
		}
		mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
			exact := new(big.Float).SetPrec(200)
			var mine []byte
			for r, divisor := range []int64{3, 7, 11} {
				x := new(big.Float).SetPrec(200).Quo(big.NewFloat(1).SetPrec(200), new(big.Float).SetInt64(divisor))
				exact.Add(exact, x)
				if r == c.Rank() {
					mine = real16(x)
				}
			}
			sum := make([]byte, 16)
			if err := c.Allreduce(mpi.BufOf(mine, 1, d), mpi.BufOf(sum, 1, d), mpi.Sum); err != nil {
				t.Fatal(err)
			}
			got := fromReal16(sum)
			off := new(big.Float).Quo(new(big.Float).Sub(got, exact), exact)
			if math.Abs(must64(off)) > 0.5e-33 {
				t.Errorf("%v: the sum is %.40g, want %.40g", d, got, exact)
			}
		})
	}
}

func must64(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// number is a small integer as an element of a type.
func number(e *dtype.Elem, n int) []byte {
	b := make([]byte, e.Size)
	le := binary.LittleEndian
	exp := int(math.Log2(float64(n)))
	switch {
	case e.Kind != dtype.Floating:
		b[0] = byte(n)
	case e.Format == dtype.Single:
		le.PutUint32(b, math.Float32bits(float32(n)))
	case e.Format == dtype.Double64:
		le.PutUint64(b, math.Float64bits(float64(n)))
	case e.Format == dtype.Extended:
		le.PutUint64(b, uint64(n)<<(63-exp))
		le.PutUint16(b[8:], uint16(16383+exp))
	default:
		copy(b, real16(big.NewFloat(float64(n))))
	}
	return b
}

// DT-05, COL-13, X-TYP-01: Minloc and Maxloc on all types of pairs find the smallest and the
// largest value, and of equal ones that with the smallest index. Elements have the layout of C's
// structs.
func TestDT05_PairsOfEveryType(t *testing.T) {
	var pairs []reducibleType
	for _, x := range reducible() {
		if _, _, ok := x.engine.Pair(); ok {
			pairs = append(pairs, x)
		}
	}
	if len(pairs) != 2*9+1 {
		t.Errorf("%d types of pairs", len(pairs))
	}
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		for _, x := range pairs {
			d, pair := x.Datatype, x.engine
			value, index, _ := pair.Pair()
			at := (value.Size() + index.Align() - 1) / index.Align() * index.Align()
			_, extent, _ := d.Extent()
			element := func(v, i int) []byte {
				b := make([]byte, extent)
				copy(b, number(value.Elem(), v))
				copy(b[at:], number(index.Elem(), i))
				return b
			}
			// For each rank: values with the largest twice, and with the smallest twice.
			mine := slicesOf(element([]int{5, 9, 9}[c.Rank()], 7-c.Rank()), element([]int{2, 2, 3}[c.Rank()], 1+c.Rank()))
			for _, x := range []struct {
				o    mpi.Op
				want []byte
			}{
				{mpi.Maxloc, slicesOf(element(9, 5), element(3, 3))},
				{mpi.Minloc, slicesOf(element(5, 7), element(2, 1))},
			} {
				recv := make([]byte, 2*extent)
				send, to := mpi.BufOf(mine, 2, d), mpi.BufOf(recv, 2, d)
				for _, call := range []func() error{
					func() error { return c.Allreduce(send, to, x.o) },
					func() error { return waited(c.Iallreduce(send, to, x.o)) },
				} {
					clear(recv)
					if err := call(); err != nil || !bytes.Equal(recv, x.want) {
						t.Errorf("%v on %v: % x, %v, want % x", x.o, d, recv, err, x.want)
					}
				}
			}
			if extent > int(at+index.Size()) { // padding counts as part of an element
				short := mpi.BufOf(mine[:2*extent-1], 2, d)
				if err := c.Allreduce(short, short, mpi.Minloc); !errors.Is(err, mpi.ErrBuffer) || !strings.Contains(err.Error(), "padding") {
					t.Errorf("%v without its last byte: %v", d, err)
				}
			}
		}
	})
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
