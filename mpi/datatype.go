package mpi

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Datatype is a layout of data in memory: the basic types of an element, and their displacements
// from its beginning. Copies refer to the same type, and == tells whether two values do. The
// zero Datatype is the null type.
//
// Types are local to a process. Freeing a type does not affect types that were made from it. A
// type must be committed before it is used in communication; predefined types and those of
// TypeOf are always committed, and cannot be freed. Using a type that is null or has been freed
// is ErrType. Ranks that are goroutines of one process share its types.
//
// C: MPI_Datatype, sections 3.2.2 and 5.1.
type Datatype struct{ h *datatype }

// datatype is what copies of a Datatype share.
type datatype struct {
	t     *dtype.Type
	lasts bool        // the only handle of its type in the process: it cannot be freed
	freed atomic.Bool // pairs with nothing: use of a type while another goroutine frees it may see either value
	attrs attributes

	// answering counts the running functions of the program that have been given the type, which can ask
	// it even if the program frees it meanwhile, or has freed it while the operation was pending.
	answering atomic.Int32

	handle atomic.Uintptr // see Handle
}

// DatatypeNull is the null type.
//
// C: MPI_DATATYPE_NULL, section 3.2.2.
var DatatypeNull Datatype

// typeSet contains the predefined types of the process, and the handles of all types that have
// only one: predefined types, those chosen by parameters, and those of Go types.
type typeSet struct {
	*dtype.Set
	first   []datatype // handles of the types that have a place, indexed by the place
	handles sync.Map   // *dtype.Type to *datatype, for all other types with one handle
}

// types makes the set at the first use, since that takes some 0.1 ms.
var types = sync.OnceValue(func() *typeSet {
	s := &typeSet{Set: dtype.PredefinedOf(fixFortran())}
	s.PairOf = pairOf
	s.HandleOf = func(g reflect.Type) bool { return g == reflect.TypeFor[Sync]() }
	s.first = make([]datatype, s.Places())
	s.Each(func(_ dtype.ID, t *dtype.Type) { s.begin(t) })
	s.begin(s.Handle())
	return s
})

// begin makes the handle of a type that has a place.
func (s *typeSet) begin(t *dtype.Type) {
	h := &s.first[t.Place()-1]
	h.t, h.lasts = t, true
}

// handle returns the handle of a type that has only one, else a new handle.
func (s *typeSet) handle(t *dtype.Type) Datatype {
	if t.Predefined() {
		return s.lasting(t)
	}
	if h, ok := s.handles.Load(t); ok {
		return Datatype{h.(*datatype)}
	}
	return Datatype{&datatype{t: t}}
}

// lasting returns the only handle of a type that has only one.
func (s *typeSet) lasting(t *dtype.Type) Datatype {
	if p := t.Place(); p > 0 {
		return Datatype{&s.first[p-1]}
	}
	h, ok := s.handles.Load(t)
	if !ok {
		h, _ = s.handles.LoadOrStore(t, &datatype{t: t, lasts: true})
	}
	return Datatype{h.(*datatype)}
}

// golang returns the engine's type for values of T.
//
//halo:plaindata T
func golang[T any]() (*dtype.Type, error) { return types().Of(reflect.TypeFor[T]()) }

// TypeOf is the type of values of T: a boolean, a number, or an array or struct of these, or a
// type defined as one. Padding of structs and fields named _ are not part of it. Types that
// contain references to memory of this process (a pointer, string, slice, map, channel,
// function, interface or uintptr) have no datatype: the error is ErrType and names the field.
//
// Go's numbers correspond to types of C: int64 to MPI_INT64_T, float64 to MPI_DOUBLE, bool to
// MPI_C_BOOL, and int to the integer type of its size. TypeOf is fast, and returns the same
// type, which is committed, on every call.
//
// C: MPI_Type_create_struct, section 5.1.2.
func TypeOf[T any]() (Datatype, error) {
	t, err := golang[T]()
	if err != nil {
		return Datatype{}, typesError(call.TypeOf, err)
	}
	return types().lasting(t), nil
}

// engine returns the engine's type, or an error of the engine if d is null or freed.
func (d Datatype) engine() (*dtype.Type, error) {
	switch {
	case d.h == nil:
		return nil, class.Errorf(class.Type, "datatype is null")
	case d.h.freed.Load() && d.h.answering.Load() == 0: // pairs with given
		return nil, class.Errorf(class.Type, "datatype %s has been freed", d.h.t)
	}
	return d.h.t, nil
}

// given calls a function of the program, to which operands of type d are passed. The type answers
// queries until the function returns, also if it has been freed.
func (d *datatype) given(f func(in, inout Buffer), in, inout Buffer) {
	d.answering.Add(1) // pairs with the load of engine
	defer d.answering.Add(-1)
	f(in, inout)
}

// use is engine for calls on a datatype itself: it raises the error.
func (d Datatype) use(by call.Number) (*dtype.Type, *Error) {
	t, err := d.engine()
	if err != nil {
		return nil, typesError(by, err)
	}
	return t, nil
}

// typesError turns an error of the engine into one of a call on types, and raises it.
func typesError(by call.Number, err error) *Error { return typesErrorOn(nil, by, err) }

// typesErrorOn is typesError for a call on c, which may be nil.
func typesErrorOn(c *Comm, by call.Number, err error) *Error {
	e := newError(ErrOther, by, c, "%v", err)
	e.cause = err
	if ce, ok := err.(*class.Error); ok {
		e.Class, e.cause = Class(ce.Class), ce.Cause
	}
	return e.raised()
}

// typeError makes an error of a call on t, and raises it.
func typeError(cl Class, by call.Number, t *dtype.Type, format string, args ...any) *Error {
	e := newError(cl, by, nil, format, args...)
	e.Object = t.String()
	return e.raised()
}

// Commit prepares the type for communication. Committing it again does nothing.
//
// C: MPI_Type_commit, section 5.1.9.
func (d Datatype) Commit() error {
	t, err := d.use(call.TypeCommit)
	if err != nil {
		return err
	}
	t.Commit()
	return nil
}

// Committed reports whether the type is committed.
//
// C: none; see MPI_Type_commit.
func (d Datatype) Committed() bool {
	t, err := d.engine()
	return err == nil && t.Committed()
}

// Permanent reports whether d cannot be freed: a predefined type, or one of TypeOf.
//
// C: none; what is predefined is a constant there, section 5.1.9.
func (internals) Permanent(d Datatype) bool { return d.h != nil && d.h.lasts }

// Free frees the type and sets d to the null type. From then on using a copy of d is ErrType.
// Messages, Buffers and types that were made with it are not affected. Its attributes are
// deleted, the last set first. If a callback fails, Free returns the error and the type remains,
// with that attribute and those set before it. ErrType for predefined types and those of TypeOf,
// which cannot be freed.
//
// C: MPI_Type_free, section 5.1.9.
func (d *Datatype) Free() error {
	t, err := d.use(call.TypeFree)
	switch {
	case err != nil:
		return err
	case d.h.lasts:
		return typeError(ErrType, call.TypeFree, t, "the type is predefined")
	}
	if err := d.h.attrs.clear(*d, call.TypeFree); err != nil {
		return err
	}
	if d.h.freed.Swap(true) {
		return typeError(ErrType, call.TypeFree, t, "the type has been freed")
	}
	*d = Datatype{}
	return nil
}

// Dup makes a copy of d, which is committed if d is, with the attributes that copy callbacks
// copy. The copy can be freed even if d cannot.
//
// C: MPI_Type_dup, section 5.1.10.
func (d Datatype) Dup() (Datatype, error) {
	t, err := d.use(call.TypeDup)
	if err != nil {
		return Datatype{}, err
	}
	like, failed := dtype.Dup(t)
	if failed != nil {
		return Datatype{}, typesError(call.TypeDup, failed)
	}
	n := Datatype{&datatype{t: like}}
	if err := d.h.attrs.copy(d, n, call.TypeDup, &n.h.attrs); err != nil {
		return Datatype{}, err.raised()
	}
	return n, nil
}

// Name is the name that SetName gave last; or else the standard's name of a predefined type,
// Go's name of a type of TypeOf, and empty for others.
//
// C: MPI_Type_get_name, section 7.8.
func (d Datatype) Name() string {
	if t, err := d.engine(); err == nil {
		return t.Name()
	}
	return ""
}

// SetName names the type in this process, for errors and tools. The name has at most 127 bytes.
// It has no other effect.
//
// C: MPI_Type_set_name, section 7.8.
func (d Datatype) SetName(name string) error {
	t, err := d.use(call.TypeSetName)
	if err != nil {
		return err
	}
	if len(name) > maxName {
		return typeError(ErrArg, call.TypeSetName, t, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	t.SetName(name)
	return nil
}

// Handle is the value that SetHandle set last, else 0.
//
// C: none; for bindings, whose callbacks get handles of types.
func (internals) Handle(d Datatype) uintptr {
	if d.h == nil {
		return 0
	}
	return d.h.handle.Load()
}

// SetHandle stores with the type the handle that it has in another language. It has no other
// effect.
//
// C: none; for bindings, whose callbacks get handles of types.
func (internals) SetHandle(d Datatype, h uintptr) {
	if d.h != nil {
		d.h.handle.Store(h)
	}
}

// IsNull reports whether d is the null type.
//
// C: MPI_DATATYPE_NULL, section 3.2.2.
func (d Datatype) IsNull() bool { return d.h == nil }

// Size is the number of bytes of data in an element, without gaps.
//
// C: MPI_Type_size, section 5.1.5.
func (d Datatype) Size() (int, error) {
	t, err := d.use(call.TypeSize)
	if err != nil {
		return 0, err
	}
	return int(t.Size()), nil
}

// Extent returns the lower bound of an element, and its extent, which is the distance from one
// element to the next; both in bytes.
//
// C: MPI_Type_get_extent, section 5.1.7.
func (d Datatype) Extent() (lb, extent int, err error) {
	t, failed := d.use(call.TypeGetExtent)
	if failed != nil {
		return 0, 0, failed
	}
	l, x := t.Extent()
	return int(l), int(x), nil
}

// TrueExtent returns the lower bound and the extent of the data alone, in bytes, without regard
// to TypeResized.
//
// C: MPI_Type_get_true_extent, section 5.1.8.
func (d Datatype) TrueExtent() (lb, extent int, err error) {
	t, failed := d.use(call.TypeGetTrueExtent)
	if failed != nil {
		return 0, 0, failed
	}
	l, x := t.TrueExtent()
	return int(l), int(x), nil
}

// String is the name of the type, or a short description of how it was made.
//
// C: none; for messages, see MPI_Type_get_name.
func (d Datatype) String() string {
	if d.h == nil {
		return "MPI_DATATYPE_NULL"
	}
	return d.h.t.String()
}
