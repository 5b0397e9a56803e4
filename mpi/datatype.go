package mpi

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Datatype is a layout of data in memory: which numbers, and where, counted from
// the beginning of an element. Copies mean the same type, and == tells whether two
// do; the zero Datatype is the null type.
//
// Types are local to a process. What is made of another type does not depend on
// that one's being freed. A type must be committed before data is communicated with
// it; predefined types and those of TypeOf are from the start, and are never freed.
// Using a type that is null or has been freed is ErrType. Ranks that are goroutines of
// one process share its types.
//
// C: MPI_Datatype, sections 3.2.2 and 5.1.
type Datatype struct{ h *datatype }

// datatype is what copies of a Datatype share.
type datatype struct {
	t     *dtype.Type
	lasts bool        // there is one for its type, in the whole process: not to be freed
	freed atomic.Bool // pairs with nothing: who frees a type while another goroutine begins to use it gets either
	attrs attributes

	handle atomic.Uintptr // see Handle
}

// DatatypeNull is the null type.
//
// C: MPI_DATATYPE_NULL, section 3.2.2.
var DatatypeNull Datatype

// typeSet is the predefined types of the process, and the handles of all types that
// exist once: these, those chosen by parameters, and those of types of Go.
type typeSet struct {
	*dtype.Set
	first   []datatype // of the types that have a place, by these
	handles sync.Map   // *dtype.Type to *datatype, of the others
}

// types is made when it is first needed: that takes some 0.1 ms.
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

// handle is the handle of a type that exists once, else a new one.
func (s *typeSet) handle(t *dtype.Type) Datatype {
	if t.Predefined() {
		return s.lasting(t)
	}
	if h, ok := s.handles.Load(t); ok {
		return Datatype{h.(*datatype)}
	}
	return Datatype{&datatype{t: t}}
}

// lasting is the one handle of a type that exists once.
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

// golang is the engine's type of values of T.
//
//halo:plaindata T
func golang[T any]() (*dtype.Type, error) { return types().Of(reflect.TypeFor[T]()) }

// TypeOf is the type of values of T: a boolean, a number, or an array or struct of
// such, whatever Go's names for them are. Padding of structs, and fields called _,
// are not part of it. What refers to memory of this process (a pointer, string,
// slice, map, channel, function, interface or uintptr) has no type: the error is
// ErrType and names the field.
//
// Numbers of Go are types of C: MPI_INT64_T for int64, MPI_DOUBLE for float64,
// MPI_C_BOOL for bool, and int is the one of its size. TypeOf is fast and always
// gives the same type, which is committed.
//
// C: MPI_Type_create_struct, section 5.1.2.
func TypeOf[T any]() (Datatype, error) {
	t, err := golang[T]()
	if err != nil {
		return Datatype{}, typesError("TypeOf", err)
	}
	return types().lasting(t), nil
}

// engine is the engine's type, if d is neither null nor freed; the error is the
// engine's.
func (d Datatype) engine() (*dtype.Type, error) {
	switch {
	case d.h == nil:
		return nil, &class.Error{Class: class.Type, Text: "datatype is null"}
	case d.h.freed.Load():
		return nil, &class.Error{Class: class.Type, Text: fmt.Sprintf("datatype %s has been freed", d.h.t)}
	}
	return d.h.t, nil
}

// use is engine for a call by itself: the error is raised.
func (d Datatype) use(call string) (*dtype.Type, *Error) {
	t, err := d.engine()
	if err != nil {
		return nil, typesError(call, err)
	}
	return t, nil
}

// typesError makes an error of the engine that of a call on types, and raises it.
func typesError(call string, err error) *Error { return typesErrorOn(nil, call, err) }

// typesErrorOn is typesError for a call on c, if that is not nil.
func typesErrorOn(c *Comm, call string, err error) *Error {
	e := newError(ErrOther, call, c, "%v", err)
	e.cause = err
	if ce, ok := err.(*class.Error); ok {
		e.Class, e.cause = Class(ce.Class), ce.Cause
	}
	return e.raised()
}

// typeError makes an error of a call on t, and raises it.
func typeError(cl Class, call string, t *dtype.Type, format string, args ...any) *Error {
	e := newError(cl, call, nil, format, args...)
	e.Object = t.String()
	return e.raised()
}

// Commit prepares the type for communication. Committing it again does nothing.
//
// C: MPI_Type_commit, section 5.1.9.
func (d Datatype) Commit() error {
	t, err := d.use("Commit")
	if err != nil {
		return err
	}
	t.Commit()
	return nil
}

// Committed reports whether data can be communicated with the type.
//
// C: none; see MPI_Type_commit.
func (d Datatype) Committed() bool {
	t, err := d.engine()
	return err == nil && t.Committed()
}

// Permanent reports whether d is a type that cannot be freed: a predefined one, or one of
// TypeOf.
//
// C: none; what is predefined is a constant there, section 5.1.9.
func (internals) Permanent(d Datatype) bool { return d.h != nil && d.h.lasts }

// Free makes d the null type; using a copy of it is ErrType from now on. Messages,
// Buffers and types that have been made with it are not affected. Its attributes are
// deleted, the last set first; if a callback fails, so does Free, and the type lives
// on with that attribute and those before it. Types that are predefined, and those of
// TypeOf, cannot be freed: ErrType.
//
// C: MPI_Type_free, section 5.1.9.
func (d *Datatype) Free() error {
	t, err := d.use("Free")
	switch {
	case err != nil:
		return err
	case d.h.lasts:
		return typeError(ErrType, "Free", t, "the type is predefined")
	}
	if err := d.h.attrs.clear(*d, callFree); err != nil {
		return err
	}
	if d.h.freed.Swap(true) {
		return typeError(ErrType, "Free", t, "the type has been freed")
	}
	*d = Datatype{}
	return nil
}

// Dup makes a type like d, committed if d is, with the attributes that their copy
// callbacks give it. It can be freed even if d cannot.
//
// C: MPI_Type_dup, section 5.1.10.
func (d Datatype) Dup() (Datatype, error) {
	t, err := d.use("Dup")
	if err != nil {
		return Datatype{}, err
	}
	like, failed := dtype.Dup(t)
	if failed != nil {
		return Datatype{}, typesError("Dup", failed)
	}
	n := Datatype{&datatype{t: like}}
	if err := d.h.attrs.copy(d, n, callDup, &n.h.attrs); err != nil {
		return Datatype{}, err.raised()
	}
	return n, nil
}

// Name is what SetName has said last, the standard's name for a predefined type,
// Go's for one of TypeOf, else empty.
//
// C: MPI_Type_get_name, section 7.8.
func (d Datatype) Name() string {
	if t, err := d.engine(); err == nil {
		return t.Name()
	}
	return ""
}

// SetName names the type in this process, for errors and tools. At most 127 bytes;
// it has no other effect.
//
// C: MPI_Type_set_name, section 7.8.
func (d Datatype) SetName(name string) error {
	t, err := d.use("SetName")
	if err != nil {
		return err
	}
	if len(name) > maxName {
		return typeError(ErrArg, "SetName", t, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	t.SetName(name)
	return nil
}

// Handle is what SetHandle has said last, else 0.
//
// C: none; for bindings, whose callbacks get handles of types.
func (internals) Handle(d Datatype) uintptr {
	if d.h == nil {
		return 0
	}
	return d.h.handle.Load()
}

// SetHandle has the type keep the handle that it has in another language. It has no other
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
	t, err := d.use("Size")
	if err != nil {
		return 0, err
	}
	return int(t.Size()), nil
}

// Extent returns the lower bound of an element and the distance from one element to
// the next, in bytes.
//
// C: MPI_Type_get_extent, section 5.1.7.
func (d Datatype) Extent() (lb, extent int, err error) {
	t, failed := d.use("Extent")
	if failed != nil {
		return 0, 0, failed
	}
	l, x := t.Extent()
	return int(l), int(x), nil
}

// TrueExtent returns lower bound and extent of the data alone, whatever TypeResized
// has said.
//
// C: MPI_Type_get_true_extent, section 5.1.8.
func (d Datatype) TrueExtent() (lb, extent int, err error) {
	t, failed := d.use("TrueExtent")
	if failed != nil {
		return 0, 0, failed
	}
	l, x := t.TrueExtent()
	return int(l), int(x), nil
}

// String is the name of the type, or in short how it was made.
//
// C: none; for messages, see MPI_Type_get_name.
func (d Datatype) String() string {
	if d.h == nil {
		return "MPI_DATATYPE_NULL"
	}
	return d.h.t.String()
}
