package mpi_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Invalid arguments: the class, and a text with the call, the argument and its numbers.
func TestDT12_WrongArguments(t *testing.T) {
	d := typ(t)(mpi.TypeOf[int32]())
	big := typ(t)(mpi.TypeContiguous(1<<40, d))
	l := func(v ...int) []int { return v }
	block := func(n, arg, procs int) []mpi.Distribute {
		return []mpi.Distribute{{Size: n, Kind: mpi.DistributeBlock, Arg: arg, Procs: procs}}
	}
	null := mpi.Datatype{}
	for _, c := range []struct {
		err   error
		class mpi.Class
		call  string
		text  string
	}{
		{second(mpi.TypeContiguous(-3, d)), mpi.ErrCount, "TypeContiguous", "count -3"},
		{second(mpi.TypeVector(-1, 1, 1, d)), mpi.ErrCount, "TypeVector", "count -1"},
		{second(mpi.TypeVector(1, -2, 1, d)), mpi.ErrArg, "TypeVector", "blocklength -2"},
		{second(mpi.TypeHvector(-1, 1, 1, d)), mpi.ErrCount, "TypeHvector", "count -1"},
		{second(mpi.TypeIndexed(l(1, 2), l(0), d)), mpi.ErrArg, "TypeIndexed", "2 blocklengths, but 1 displacements"},
		{second(mpi.TypeIndexed(l(1, -4), l(0, 1), d)), mpi.ErrArg, "TypeIndexed", "blocklength -4 at index 1"},
		{second(mpi.TypeHindexed(l(-4), l(0), d)), mpi.ErrArg, "TypeHindexed", "blocklength -4 at index 0"},
		{second(mpi.TypeIndexedBlock(-1, l(0), d)), mpi.ErrArg, "TypeIndexedBlock", "blocklength -1"},
		{second(mpi.TypeHindexedBlock(-1, l(0), d)), mpi.ErrArg, "TypeHindexedBlock", "blocklength -1"},
		{second(mpi.TypeStruct(l(1, 1), l(0, 8), []mpi.Datatype{d})), mpi.ErrArg, "TypeStruct", "1 types, but 2 displacements"},
		{second(mpi.TypeStruct(l(1, 1), l(0, 8), []mpi.Datatype{d, null})), mpi.ErrType, "TypeStruct", "type at index 1: datatype is null"},
		{second(mpi.TypeStruct(l(-1), l(0), []mpi.Datatype{d})), mpi.ErrArg, "TypeStruct", "blocklength -1"},
		{second(mpi.TypeSubarray(nil, nil, nil, mpi.OrderC, d)), mpi.ErrDims, "TypeSubarray", "0 dimensions"},
		{second(mpi.TypeSubarray(l(4, 4), l(2), l(0, 0), mpi.OrderC, d)), mpi.ErrDims, "TypeSubarray", "1 subsizes for 2 dimensions"},
		{second(mpi.TypeSubarray(l(4, 4), l(2, 2), l(0), mpi.OrderC, d)), mpi.ErrDims, "TypeSubarray", "1 starts for 2 dimensions"},
		{second(mpi.TypeSubarray(l(4, 0), l(2, 1), l(0, 0), mpi.OrderC, d)), mpi.ErrArg, "TypeSubarray", "size 0 of dimension 1"},
		{second(mpi.TypeSubarray(l(4), l(5), l(0), mpi.OrderC, d)), mpi.ErrArg, "TypeSubarray", "subsize 5 of dimension 0"},
		{second(mpi.TypeSubarray(l(4), l(2), l(3), mpi.OrderC, d)), mpi.ErrArg, "TypeSubarray", "start 3 of dimension 0"},
		{second(mpi.TypeSubarray(l(4), l(2), l(0), 7, d)), mpi.ErrArg, "TypeSubarray", "order 7"},
		{second(mpi.TypeDarray(1, 0, nil, mpi.OrderC, d)), mpi.ErrDims, "TypeDarray", "0 dimensions"},
		{second(mpi.TypeDarray(2, 2, block(8, 4, 2), mpi.OrderC, d)), mpi.ErrRank, "TypeDarray", "rank 2"},
		{second(mpi.TypeDarray(3, 0, block(8, 4, 2), mpi.OrderC, d)), mpi.ErrArg, "TypeDarray", "2 processes, size is 3"},
		{second(mpi.TypeDarray(2, 0, block(8, 3, 2), mpi.OrderC, d)), mpi.ErrArg, "TypeDarray", "blocks of 3"},
		{second(mpi.TypeDarray(1, 0, []mpi.Distribute{{8, 3, 1, 1}}, mpi.OrderC, d)), mpi.ErrArg, "TypeDarray", "distribution 3"},
		{second(mpi.TypeContiguous(1<<30, big)), mpi.ErrValueTooLarge, "TypeContiguous", "64 bits"},
		{second(mpi.TypeHvector(3, 1, math.MaxInt64/2, d)), mpi.ErrValueTooLarge, "TypeHvector", "64 bits"},
		{second(mpi.TypeResized(d, 5, math.MaxInt64)), mpi.ErrValueTooLarge, "TypeResized", "64 bits"},
		{second(mpi.TypeF90Real(mpi.Undefined, mpi.Undefined)), mpi.ErrArg, "TypeF90Real", "both MPI_UNDEFINED"},
		{second(mpi.TypeF90Real(100, mpi.Undefined)), mpi.ErrArg, "TypeF90Real", "precision 100"},
		{second(mpi.TypeF90Complex(6, 5000)), mpi.ErrArg, "TypeF90Complex", "range 5000"},
		{second(mpi.TypeF90Complex(-1, 6)), mpi.ErrArg, "TypeF90Complex", "precision -1"},
		{second(mpi.TypeF90Integer(39)), mpi.ErrArg, "TypeF90Integer", "range 39"},
		{second(mpi.TypeMatchSize(mpi.TypeclassInteger, 3)), mpi.ErrArg, "TypeMatchSize", "has 3 bytes"},
		{second(mpi.TypeMatchSize(7, 8)), mpi.ErrArg, "TypeMatchSize", "typeclass 7"},
		{second(mpi.Predefined("MPI_UB")), mpi.ErrArg, "Predefined", `"MPI_UB"`},
		{second(typ(t)(mpi.Predefined("MPI_INT")).Contents()), mpi.ErrType, "Contents on MPI_INT", "predefined"},
		{second(mpi.PackSize(-1, d)), mpi.ErrCount, "PackSize on MPI_INT32_T", "count -1"},
		{second(mpi.PackSize(math.MaxInt64/4+1, d)), mpi.ErrValueTooLarge, "PackSize on MPI_INT32_T", "64 bits"},
		{second(mpi.PackExternalSize(-1, d)), mpi.ErrCount, "PackExternalSize", "count -1"},
		{second(mpi.PackExternalSize(math.MaxInt64/4+1, d)), mpi.ErrValueTooLarge, "PackExternalSize", "64 bits"},
	} {
		wantText(t, c.err, c.class, "mpi: "+c.call+": ", c.text)
	}
}

// again makes a type with the call that the contents describe.
func again(c mpi.Contents) (mpi.Datatype, error) {
	i, a, d := c.Integers, c.Addresses, c.Types
	switch c.Combiner {
	case mpi.CombinerDup:
		return d[0].Dup()
	case mpi.CombinerContiguous:
		return mpi.TypeContiguous(i[0], d[0])
	case mpi.CombinerVector:
		return mpi.TypeVector(i[0], i[1], i[2], d[0])
	case mpi.CombinerHvector:
		return mpi.TypeHvector(i[0], i[1], a[0], d[0])
	case mpi.CombinerIndexed:
		return mpi.TypeIndexed(i[1:1+i[0]], i[1+i[0]:], d[0])
	case mpi.CombinerHindexed:
		return mpi.TypeHindexed(i[1:], a, d[0])
	case mpi.CombinerIndexedBlock:
		return mpi.TypeIndexedBlock(i[1], i[2:], d[0])
	case mpi.CombinerHindexedBlock:
		return mpi.TypeHindexedBlock(i[1], a, d[0])
	case mpi.CombinerStruct:
		return mpi.TypeStruct(i[1:], a, d)
	case mpi.CombinerSubarray:
		n := i[0]
		return mpi.TypeSubarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], mpi.Order(i[1+3*n]), d[0])
	case mpi.CombinerDarray:
		n := i[2]
		dims := make([]mpi.Distribute, n)
		for k := range dims {
			dims[k] = mpi.Distribute{Size: i[3+k], Kind: mpi.Distribution(i[3+n+k]), Arg: i[3+2*n+k], Procs: i[3+3*n+k]}
		}
		return mpi.TypeDarray(i[0], i[1], dims, mpi.Order(i[3+4*n]), d[0])
	case mpi.CombinerResized:
		return mpi.TypeResized(d[0], a[0], a[1])
	case mpi.CombinerF90Real:
		return mpi.TypeF90Real(i[0], i[1])
	case mpi.CombinerF90Complex:
		return mpi.TypeF90Complex(i[0], i[1])
	case mpi.CombinerF90Integer:
		return mpi.TypeF90Integer(i[0])
	case mpi.CombinerValueIndex:
		return mpi.TypeValueIndex(d[0], d[1])
	}
	return mpi.Datatype{}, mpi.ErrIntern
}

// The envelope names the call, even if another call makes an equal type (DT-09), and the number
// of its arguments (DT-08); a type made from the contents is equal (DT-10).
func TestDT08_DT09_DT10_EnvelopeAndContents(t *testing.T) {
	d := typ(t)(mpi.Predefined("MPI_INT"))
	f64 := typ(t)(mpi.TypeOf[float64]())
	v := typ(t)(mpi.TypeVector(2, 1, 3, d))
	l := func(v ...int) []int { return v }
	dims := []mpi.Distribute{{6, mpi.DistributeBlock, mpi.DistributeDefault, 2}, {4, mpi.DistributeNone, mpi.DistributeDefault, 1}}
	for _, c := range []struct {
		d          mpi.Datatype
		name       string
		ni, na, nd int
	}{
		{typ(t)(d.Dup()), "dup", 0, 0, 1},
		{typ(t)(mpi.TypeContiguous(4, d)), "contiguous", 1, 0, 1},
		{typ(t)(mpi.TypeVector(4, 2, 2, d)), "vector", 3, 0, 1},
		{typ(t)(mpi.TypeHvector(4, 2, 9, v)), "hvector", 2, 1, 1},
		{typ(t)(mpi.TypeIndexed(l(1, 2), l(3, 0), d)), "indexed", 5, 0, 1},
		{typ(t)(mpi.TypeHindexed(l(1, 2), l(0, 40), v)), "hindexed", 3, 2, 1},
		{typ(t)(mpi.TypeIndexedBlock(2, l(5, 1), d)), "indexed_block", 4, 0, 1},
		{typ(t)(mpi.TypeHindexedBlock(1, l(0, 5), d)), "hindexed_block", 2, 2, 1},
		{typ(t)(mpi.TypeStruct(l(1, 3), l(0, 8), []mpi.Datatype{d, f64})), "struct", 3, 2, 2},
		{typ(t)(mpi.TypeSubarray(l(4, 5), l(2, 3), l(1, 2), mpi.OrderFortran, d)), "subarray", 8, 0, 1},
		{typ(t)(mpi.TypeDarray(2, 1, dims, mpi.OrderFortran, d)), "darray", 12, 0, 1},
		{typ(t)(mpi.TypeResized(v, 0, 32)), "resized", 0, 2, 1},
		{typ(t)(mpi.TypeF90Real(6, mpi.Undefined)), "f90_real", 2, 0, 0},
		{typ(t)(mpi.TypeF90Complex(mpi.Undefined, 300)), "f90_complex", 2, 0, 0},
		{typ(t)(mpi.TypeF90Integer(9)), "f90_integer", 1, 0, 0},
		{typ(t)(mpi.TypeOf[mpi.ValueIndex[int8, int64]]()), "value_index", 0, 0, 2},
	} {
		e, err := c.d.Envelope()
		ok(t, err)
		if got := e.Combiner.String(); got != c.name || e.Integers != c.ni || e.Addresses != c.na || e.Types != c.nd {
			t.Errorf("%v: %v %d %d %d, want %s %d %d %d", c.d, e.Combiner, e.Integers, e.Addresses, e.Types, c.name, c.ni, c.na, c.nd)
		}
		contents, err := c.d.Contents()
		ok(t, err)
		if contents.Combiner != e.Combiner || len(contents.Integers) != c.ni || len(contents.Addresses) != c.na || len(contents.Types) != c.nd {
			t.Errorf("%v: contents %v", c.d, contents)
		}
		like := typ(t)(again(contents))
		if a, b := traits(t, c.d), traits(t, like); !slices.Equal(a, b) {
			t.Errorf("%v made again has size and bounds %v, want %v", c.d, b, a)
		}
		mem := make([]byte, 400)
		for i := range mem {
			mem[i] = byte(i)
		}
		a, err := mpi.Pack(nil, mpi.BufOf(mem, 2, c.d))
		ok(t, err)
		if b, err := mpi.Pack(nil, mpi.BufOf(mem, 2, like)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%v made again packs as % x (%v), want % x", c.d, b, err, a)
		}
	}
	if e, err := d.Envelope(); err != nil || e != (mpi.Envelope{Combiner: mpi.CombinerNamed}) {
		t.Errorf("predefined: %v, %v", e, err)
	}
	if s := mpi.Combiner(3).String(); s != "no combiner" {
		t.Errorf("combiner 3 is %q", s)
	}
}

// traits are size, bounds and true bounds.
func traits(t testing.TB, d mpi.Datatype) []int {
	t.Helper()
	size, err := d.Size()
	ok(t, err)
	lb, ext, err := d.Extent()
	ok(t, err)
	trueLB, trueExt, err := d.TrueExtent()
	ok(t, err)
	return []int{size, lb, ext, trueLB, trueExt}
}

// Types in contents: predefined types and those of Go are the usual handles; the program has to
// free the others, and this does not affect the original.
func TestDT10_TypesInContents(t *testing.T) {
	type point struct{ X, Y float32 }
	g := typ(t)(mpi.TypeOf[point]())
	old := typ(t)(mpi.TypeVector(2, 1, 2, g))
	d := typ(t)(mpi.TypeStruct([]int{1, 1, 1, 1}, []int{0, 100, 200, 300}, []mpi.Datatype{old, g, mpi.Byte(), typ(t)(mpi.TypeF90Integer(4))}))
	key := mpi.CreateKeyval(mpi.DupFn[mpi.Datatype, int], nil)
	ok(t, mpi.SetAttr(old, key, 1))
	c, err := d.Contents()
	ok(t, err)
	if c.Types[1] != g || c.Types[2] != mpi.Byte() || c.Types[3] != typ(t)(mpi.TypeF90Integer(4)) || c.Types[0] == old {
		t.Errorf("types %v", c.Types)
	}
	hasNoAttr(t, c.Types[0], key)
	ok(t, c.Types[0].Free())
	ok(t, second(old.Size()))
	ok(t, old.Free())
	c, err = d.Contents()
	ok(t, err)
	if want := []int{8 * 2, 0, 24, 0, 24}; !slices.Equal(traits(t, c.Types[0]), want) {
		t.Errorf("%v has %v, want %v", c.Types[0], traits(t, c.Types[0]), want)
	}
}

// Bounds can be set, and types made from that type use them; the true bounds are those of the
// data (DT-11).
func TestDT11_Resized(t *testing.T) {
	d := typ(t)(mpi.Predefined("MPI_INT"))
	r := typ(t)(mpi.TypeResized(d, -4, 16))
	if got, want := traits(t, r), []int{4, -4, 16, 0, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := traits(t, typ(t)(mpi.TypeContiguous(3, r))), []int{12, -4, 48, 0, 36}; !slices.Equal(got, want) {
		t.Errorf("three of them: %v, want %v", got, want)
	}
}

// X-CNT-01: counts, sizes and displacements have 64 bits, without second forms of the calls
// (X-CNT-02).
func TestXCNT01_XCNT02_LargeCounts(t *testing.T) {
	const huge = 1 << 33
	d := typ(t)(mpi.TypeContiguous(huge, typ(t)(mpi.TypeOf[int16]())))
	v := typ(t)(mpi.TypeHvector(2, huge, 1<<40, mpi.Byte()))
	if got, want := traits(t, d), []int{2 * huge, 0, 2 * huge, 0, 2 * huge}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := traits(t, v), []int{2 * huge, 0, 1<<40 + huge, 0, 1<<40 + huge}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	c, err := v.Contents()
	ok(t, err)
	if c.Integers[1] != huge || c.Addresses[0] != 1<<40 {
		t.Errorf("contents %v", c)
	}
	if n, err := mpi.PackSize(3, d); err != nil || n != 6*huge {
		t.Errorf("pack size %d (%v)", n, err)
	}
	if n, err := mpi.PackExternalSize(3, d); err != nil || n != 6*huge {
		t.Errorf("size in external32 %d (%v)", n, err)
	}
	wantClass(t, second(mpi.Pack(nil, mpi.BufOf(make([]byte, 10), 1, d))), mpi.ErrBuffer)
}
