package dtype

import (
	"math"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// A bad argument gives the right error class, and the error names the argument and the numbers.
func TestConstructorsRefuseBadArguments(t *testing.T) {
	set := Predefined()
	i := set.Type(Int)
	big := must(t)(Contiguous(1<<40, i))
	l := func(v ...int64) []int64 { return v }
	block := func(n, arg, procs int64) []Distribute { return []Distribute{{n, DistributeBlock, arg, procs}} }
	for _, c := range []struct {
		what string
		f    func() (*Type, error)
		want class.Class
		text string
	}{
		{"contiguous", func() (*Type, error) { return Contiguous(-3, i) }, class.Count, "count -3"},
		{"contiguous null", func() (*Type, error) { return Contiguous(1, nil) }, class.Type, "MPI_DATATYPE_NULL"},
		{"vector count", func() (*Type, error) { return Vector(-1, 1, 1, i) }, class.Count, "count -1"},
		{"vector block", func() (*Type, error) { return Vector(1, -2, 1, i) }, class.Arg, "blocklength -2"},
		{"vector null", func() (*Type, error) { return Vector(1, 2, 1, nil) }, class.Type, "NULL"},
		{"hvector", func() (*Type, error) { return Hvector(-1, 1, 1, i) }, class.Count, "count -1"},
		{"indexed lengths", func() (*Type, error) { return Indexed(l(1, 2), l(0), i) }, class.Arg, "2 blocklengths, but 1"},
		{"indexed negative", func() (*Type, error) { return Indexed(l(1, -4), l(0, 1), i) }, class.Arg, "blocklength -4 at index 1"},
		{"hindexed", func() (*Type, error) { return Hindexed(l(-4), l(0), i) }, class.Arg, "blocklength -4 at index 0"},
		{"indexed block", func() (*Type, error) { return IndexedBlock(-1, l(0), i) }, class.Arg, "blocklength -1"},
		{"hindexed block", func() (*Type, error) { return HindexedBlock(-1, l(0), i) }, class.Arg, "blocklength -1"},
		{"hindexed null", func() (*Type, error) { return HindexedBlock(1, l(0), nil) }, class.Type, "NULL"},
		{"struct", func() (*Type, error) { return Struct(l(1, 1), l(0, 8), []*Type{i}) }, class.Arg, "1 types, but 2"},
		{"struct null", func() (*Type, error) { return Struct(l(1, 1), l(0, 8), []*Type{i, nil}) }, class.Type, "index 1"},
		{"struct negative", func() (*Type, error) { return Struct(l(-1), l(0), []*Type{i}) }, class.Arg, "blocklength -1"},
		{"subarray ndims", func() (*Type, error) { return Subarray(nil, nil, nil, OrderC, i) }, class.Dims, "0 dimensions"},
		{"subarray subsizes", func() (*Type, error) { return Subarray(l(4, 4), l(2), l(0, 0), OrderC, i) }, class.Dims, "1 subsizes for 2"},
		{"subarray starts", func() (*Type, error) { return Subarray(l(4, 4), l(2, 2), l(0), OrderC, i) }, class.Dims, "1 starts for 2"},
		{"subarray size", func() (*Type, error) { return Subarray(l(4, 0), l(2, 1), l(0, 0), OrderC, i) }, class.Arg, "size 0 of dimension 1"},
		{"subarray subsize", func() (*Type, error) { return Subarray(l(4), l(5), l(0), OrderC, i) }, class.Arg, "subsize 5 of dimension 0"},
		{"subarray start", func() (*Type, error) { return Subarray(l(4), l(2), l(3), OrderC, i) }, class.Arg, "start 3 of dimension 0"},
		{"subarray order", func() (*Type, error) { return Subarray(l(4), l(2), l(0), 7, i) }, class.Arg, "order 7"},
		{"subarray null", func() (*Type, error) { return Subarray(l(4), l(2), l(0), OrderC, nil) }, class.Type, "NULL"},
		{"darray ndims", func() (*Type, error) { return Darray(1, 0, nil, OrderC, i) }, class.Dims, "0 dimensions"},
		{"darray rank", func() (*Type, error) { return Darray(2, 2, block(8, 4, 2), OrderC, i) }, class.Rank, "rank 2"},
		{"darray size", func() (*Type, error) { return Darray(0, 0, block(8, 4, 2), OrderC, i) }, class.Arg, "size 0"},
		{"darray grid", func() (*Type, error) { return Darray(3, 0, block(8, 4, 2), OrderC, i) }, class.Arg, "2 processes, size is 3"},
		{"darray block", func() (*Type, error) { return Darray(2, 0, block(8, 3, 2), OrderC, i) }, class.Arg, "blocks of 3"},
		{"darray arg", func() (*Type, error) { return Darray(2, 0, block(8, 0, 2), OrderC, i) }, class.Arg, "argument 0"},
		{"darray none", func() (*Type, error) {
			return Darray(2, 0, []Distribute{{8, DistributeNone, 1, 2}}, OrderC, i)
		}, class.Arg, "not distributed, but has 2"},
		{"darray kind", func() (*Type, error) { return Darray(1, 0, []Distribute{{8, 3, 1, 1}}, OrderC, i) }, class.Arg, "distribution 3"},
		{"darray gsize", func() (*Type, error) { return Darray(1, 0, block(0, 1, 1), OrderC, i) }, class.Arg, "size 0 of dimension 0"},
		{"darray procs", func() (*Type, error) { return Darray(1, 0, block(4, 4, 0), OrderC, i) }, class.Arg, "0 processes"},
		{"dup", func() (*Type, error) { return Dup(nil) }, class.Type, "NULL"},
		{"resized", func() (*Type, error) { return Resized(nil, 0, 1) }, class.Type, "NULL"},
		{"size overflow", func() (*Type, error) { return Contiguous(1<<30, big) }, class.ValueTooLarge, "64 bits"},
		{"stride overflow", func() (*Type, error) { return Hvector(3, 1, math.MaxInt64/2, i) }, class.ValueTooLarge, "64 bits"},
		{"negative stride overflow", func() (*Type, error) { return Vector(2, 1, math.MinInt64, i) }, class.ValueTooLarge, "64 bits"},
		{"displacement overflow", func() (*Type, error) { return Hindexed(l(1), l(math.MaxInt64-3), i) }, class.ValueTooLarge, "64 bits"},
		{"extent overflow", func() (*Type, error) { return Hindexed(l(1, 1), l(math.MaxInt64-9, -9), i) }, class.ValueTooLarge, "64 bits"},
		{"bounds overflow", func() (*Type, error) { return Resized(i, 5, math.MaxInt64) }, class.ValueTooLarge, "64 bits"},
		{"least displacement", func() (*Type, error) { return Hindexed(l(1), l(math.MinInt64), i) }, class.ValueTooLarge, "64 bits"},
		{"least lb", func() (*Type, error) { return Resized(i, math.MinInt64, 1) }, class.ValueTooLarge, "64 bits"},
		{"subarray overflow", func() (*Type, error) {
			return Subarray(l(1<<32, 1<<32), l(1, 1), l(0, 0), OrderC, i)
		}, class.ValueTooLarge, "64 bits"},
	} {
		typ, err := c.f()
		if typ != nil || classOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, class %d, %v; want class %d and %q", c.what, typ, classOf(err), err, c.want, c.text)
		}
	}
}

// Arguments without influence on the type may have any value.
func TestInsignificantArguments(t *testing.T) {
	i := Predefined().Type(Int)
	for _, typ := range []*Type{
		must(t)(Vector(1, 3, math.MaxInt64, i)),
		must(t)(Vector(0, 3, math.MinInt64, i)),
		must(t)(Hvector(1, 3, math.MinInt64, i)),
		must(t)(Indexed([]int64{0, 3}, []int64{math.MaxInt64, 0}, i)),
		must(t)(Struct([]int64{0, 3}, []int64{math.MinInt64, 0}, []*Type{i, i})),
		must(t)(Darray(1, 0, []Distribute{{3, DistributeNone, -7, 1}}, OrderC, i)),
	} {
		if lb, ex := typ.Extent(); lb != 0 || typ.Size() > 0 && ex != 12 {
			t.Errorf("%v: lb %d, extent %d", typ, lb, ex)
		}
		if b, err := Bind(make([]byte, 12), 0, typ, 1); err != nil || b.Size() != typ.Size() {
			t.Errorf("%v: %v", typ, err)
		}
	}
}

// Uncommitted and null types, negative counts and memory that is too short are
// refused when a buffer is made (DT-13).
func TestDT13BindRefuses(t *testing.T) {
	set := Predefined()
	v, _ := Vector(3, 1, 2, set.Type(Double))
	mem := make([]byte, 40)
	if _, err := Bind(mem, 0, v, 1); classOf(err) != class.Type || !strings.Contains(err.Error(), "vector(3 1 2 MPI_DOUBLE) is not committed") {
		t.Errorf("uncommitted: %v", err)
	}
	v.Commit()
	if _, err := Bind(mem, 0, v, 1); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		origin int64
		typ    *Type
		count  int64
		want   class.Class
		text   string
	}{
		{0, nil, 1, class.Type, "MPI_DATATYPE_NULL"},
		{0, v, -1, class.Count, "count -1"},
		{1, v, 1, class.Buffer, "from byte 1 to 41 of a buffer of 40"},
		{-8, v, 1, class.Buffer, "from byte -8 to 32"},
		{0, v, 2, class.Buffer, "to 80 of a buffer of 40"},
		{math.MaxInt64, v, 1, class.Buffer, ""},
		{0, v, math.MaxInt64 / 9, class.Count, "64 bits"},
	} {
		if _, err := Bind(mem, c.origin, c.typ, c.count); classOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
			t.Errorf("origin %d, %d x %v: %v", c.origin, c.count, c.typ, err)
		}
	}
	if b, err := Bind(nil, 0, v, 0); err != nil || b.Size() != 0 || b.Pack(mem, 0) != 0 || b.Type() != v || b.Count() != 0 {
		t.Errorf("nothing: %v", err)
	}
	b, _ := Bind(mem, 0, v, 1)
	if b.Pack(mem, -1) != 0 || b.Pack(mem, 24) != 0 || b.Pack(mem, 99) != 0 || b.Unpack(nil, 0) != 0 {
		t.Error("positions outside the packed form")
	}
	if n, next := b.Runs(make([]Run, 4), 24, 100); n != 0 || next != 24 {
		t.Error("runs behind the end")
	}
}
