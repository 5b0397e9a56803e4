package bind

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// maker records the origins of new types.
//
// C can ask whether a type, or a type that it was made from, was made by a form with large
// counts. Package mpi does not know, since all its counts have 64 bits. The library records it
// for the types concerned: none in most programs.
type maker struct {
	l      *Lib
	origin *origin
}

// origin says how a type was made. It is nil for types that neither were made by a form with
// large counts nor contain types that were.
type origin struct {
	large bool
	of    []*origin // origins of the types that it was made from, in their order
}

// from begins to make a type from the types olds.
func (l *Lib) from(a args, olds ...mpi.Datatype) maker {
	if !a.large && !l.origins.any.Load() {
		return maker{l: l}
	}
	o := &origin{large: a.large, of: make([]*origin, len(olds))}
	counts := a.large
	for i, d := range olds {
		o.of[i] = l.originOf(d)
		counts = counts || o.of[i] != nil
	}
	if !counts {
		o = nil
	}
	return maker{l, o}
}

// origins holds the origins of the types that have one.
type origins struct {
	sync.Map             // mpi.Datatype to *origin
	any      atomic.Bool // keep has been called
}

// keep records the origin of a type.
func (s *origins) keep(d mpi.Datatype, o *origin) {
	s.any.Store(true)
	s.Store(d, o)
}

// drop removes the origin of a type.
func (s *origins) drop(d mpi.Datatype) {
	if s.any.Load() {
		s.Delete(d)
	}
}

// originOf returns the origin of a type, or nil.
func (l *Lib) originOf(d mpi.Datatype) *origin {
	if !l.origins.any.Load() {
		return nil
	}
	if o, ok := l.origins.Load(d); ok {
		return o.(*origin)
	}
	return nil
}

// made records the origin of a new type.
func (m maker) made(d mpi.Datatype, err error) (mpi.Datatype, error) {
	if err == nil && m.origin != nil {
		m.l.origins.keep(d, m.origin)
	}
	return d, err
}

// dup makes a copy of a type and records its origin.
func (m maker) dup(old mpi.Datatype) (mpi.Datatype, error) { return m.made(old.Dup()) }

// lists returns the first n elements of each array. Missing arrays are an error.
func (l *Lib) lists(by call.Number, n int, arrays ...array) ([][]int, error) {
	if n < 0 {
		return nil, l.fail(mpi.ErrCount, by, "count %d is negative", n)
	}
	out := make([][]int, len(arrays))
	for i, r := range arrays {
		if n > 0 && r.null() {
			return nil, l.fail(mpi.ErrArg, by, "one of the arrays of %d elements is null", n)
		}
		out[i] = r.ints(n)
	}
	return out, nil
}

// typeBlocks makes types of blocks that each have a length and a displacement.
func (l *Lib) typeBlocks(by call.Number, n int, lengths, displs array, old mpi.Datatype, construct func(lengths, displs []int, old mpi.Datatype) (mpi.Datatype, error)) (mpi.Datatype, error) {
	s, err := l.lists(by, n, lengths, displs)
	if err != nil {
		return mpi.Datatype{}, err
	}
	return construct(s[0], s[1], old)
}

// typeAlike makes types of blocks that have one length.
func (l *Lib) typeAlike(by call.Number, n, length int, displs array, old mpi.Datatype, construct func(length int, displs []int, old mpi.Datatype) (mpi.Datatype, error)) (mpi.Datatype, error) {
	s, err := l.lists(by, n, displs)
	if err != nil {
		return mpi.Datatype{}, err
	}
	return construct(length, s[0], old)
}

// typeStruct is MPI_Type_create_struct.
func (l *Lib) typeStruct(a args, n int, lengths, displs array) (mpi.Datatype, error) {
	s, err := l.lists(call.TypeCreateStruct, n, lengths, displs)
	if err != nil {
		return mpi.Datatype{}, err
	}
	handles := a.handles(3, n)
	if n > 0 && handles == nil {
		return mpi.Datatype{}, l.fail(mpi.ErrArg, call.TypeCreateStruct, "the array of %d types is null", n)
	}
	olds := make([]mpi.Datatype, n)
	for i, h := range handles {
		olds[i] = l.datatype(h)
	}
	return l.from(a, olds...).made(mpi.TypeStruct(s[0], s[1], olds))
}

// subarray is MPI_Type_create_subarray. Some programs make such a type for each transfer, so
// the arguments for few dimensions stay on the stack.
func (l *Lib) subarray(n int, sizes, subsizes, starts array, order int, old mpi.Datatype) (mpi.Datatype, error) {
	if n <= 0 || n > fewDimensions || sizes.null() || subsizes.null() || starts.null() {
		s, err := l.lists(call.TypeCreateSubarray, max(n, 0), sizes, subsizes, starts)
		if err != nil {
			return mpi.Datatype{}, err
		}
		return mpi.TypeSubarray(s[0], s[1], s[2], mpi.Order(order), old)
	}
	var few [3][fewDimensions]int
	for i := range n {
		few[0][i], few[1][i], few[2][i] = sizes.get(i), subsizes.get(i), starts.get(i)
	}
	return mpi.TypeSubarray(few[0][:n], few[1][:n], few[2][:n], mpi.Order(order), old)
}

// fewDimensions is the largest number of dimensions for which subarray does not allocate.
const fewDimensions = 8

// darray is MPI_Type_create_darray.
func (l *Lib) darray(size, rank, n int, sizes, kinds, args, procs array, order int, old mpi.Datatype) (mpi.Datatype, error) {
	s, err := l.lists(call.TypeCreateDarray, max(n, 0), sizes, kinds, args, procs)
	if err != nil {
		return mpi.Datatype{}, err
	}
	dims := make([]mpi.Distribute, len(s[0]))
	for i := range dims {
		dims[i] = mpi.Distribute{Size: s[0][i], Kind: mpi.Distribution(s[1][i]), Arg: s[2][i], Procs: s[3][i]}
	}
	return mpi.TypeDarray(size, rank, dims, mpi.Order(order), old)
}

// typeAt returns argument 0 as a pointer to a handle of a type.
func (l *Lib) typeAt(a args, by call.Number) (*handle, error) {
	if err := l.need(by, a, "datatype", 0); err != nil {
		return nil, err
	}
	return (*handle)(a.result(0)), nil
}

// commit is MPI_Type_commit.
func (l *Lib) commit(a args) error {
	at, err := l.typeAt(a, call.TypeCommit)
	if err != nil {
		return err
	}
	return l.datatype(*at).Commit()
}

// freeType is MPI_Type_free.
func (l *Lib) freeType(a args) error {
	at, err := l.typeAt(a, call.TypeFree)
	if err != nil {
		return err
	}
	d := l.datatype(*at)
	freed := d
	if err := freed.Free(); err != nil {
		return err
	}
	l.origins.drop(d)
	l.types.drop(*at)
	*at = typeNull
	return nil
}

// typeName is MPI_Type_get_name, which also accepts the null type.
func (l *Lib) typeName(h handle) (string, error) {
	if h == typeNull {
		return "MPI_DATATYPE_NULL", nil
	}
	d := l.datatype(h)
	if d.IsNull() {
		_, err := d.Size() // package mpi raises the error
		return "", err
	}
	return d.Name(), nil
}
