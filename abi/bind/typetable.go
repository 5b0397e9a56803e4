package bind

import (
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/mpi"
)

// typeTable is the datatypes that C has handles of. A type knows its handle itself
// (SetHandle of package mpi): a map from types to handles would cost a type that is made for one
// transfer more than its layout does.
type typeTable struct{ table[mpi.Datatype] }

// put is the handle of a datatype, a new one if it has none.
func (t *typeTable) put(d mpi.Datatype) handle {
	if h := t.handleOf(d, typeNull); h != typeNull {
		return h
	}
	h := t.add(d)
	engine.SetHandle(d, h)
	return h
}

// handleOf is the handle of a datatype, null if it has none in this table: tests have several
// libraries in one process, which share the types that exist once.
func (t *typeTable) handleOf(d mpi.Datatype, null handle) handle {
	h := engine.Handle(d)
	if h >= firstPredefined && h <= lastPredefined {
		return h
	}
	if s := t.at(h); s != nil && s.value == d {
		return h
	}
	return null
}

// drop ends a handle, and forgets the way back.
func (t *typeTable) drop(h handle) bool {
	if d, ok := t.get(h); ok && engine.Handle(d) == h {
		engine.SetHandle(d, 0)
	}
	return t.remove(h)
}

// typeRecords are the records of derived datatypes that C reads, by the numbers in their handles.
// A number keeps its record, which then is of one type after the other: to take one from package
// hot for each type would cost a twentieth of what the type does. C finds a record only by the
// handle of the type that it is of.
type typeRecords []typeRecord

type typeRecord struct {
	*shmfmt.Type
	open bool // C knows the handle
}

// at is the record of a handle.
func (l *typeRecords) at(h handle) *typeRecord {
	number := int(h >> kindBits & (1<<slotBits - 1))
	for number >= len(*l) {
		*l = append(*l, typeRecord{})
	}
	return &(*l)[number]
}

// open is the record of a type whose handle begins, nil if C is not to know it.
func (l *typeRecords) open(h handle, d mpi.Datatype) *shmfmt.Type {
	r := l.at(h)
	if r.Type == nil {
		r.Type = hot.New[shmfmt.Type]()
	}
	if r.open = engine.ShareType(d, r.Type); !r.open {
		return nil
	}
	return r.Type
}

// moved tells that elements of a type have been moved.
func (l *typeRecords) moved(h handle, d mpi.Datatype) {
	if r := l.at(h); r.open {
		engine.ShareProgram(d, r.Type)
	}
}

// close ends the record of a type, whose handle C does not know any more.
func (l *typeRecords) close(h handle, d mpi.Datatype) {
	if r := l.at(h); r.open {
		r.open = false
		engine.UnshareType(d, r.Type)
	}
}
