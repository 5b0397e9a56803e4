package bind

import (
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/mpi"
)

// typeTable is the handle table of datatypes. A type stores its handle itself (SetHandle of
// package mpi): for a type that is made for one transfer, a map from types to handles would
// cost more than its layout.
type typeTable struct {
	table[mpi.Datatype]
	lent lending[mpi.Datatype]
}

// put returns the handle of a datatype, and makes one if there is none.
func (t *typeTable) put(d mpi.Datatype) handle {
	if h := t.handleOf(d, typeNull); h != typeNull {
		return h
	}
	h := t.add(d)
	engine.SetHandle(d, h)
	return h
}

// handleOf returns the handle of a datatype, or null if the type has none in this table. In
// tests several Libs in one process share a type, which stores only one handle.
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

// drop ends a handle, and removes it from its type.
func (t *typeTable) drop(h handle) bool {
	if d, ok := t.get(h); ok && t.lent.keeps(d) {
		return true
	}
	return t.end(h)
}

// end is drop of a handle that is not lent.
func (t *typeTable) end(h handle) bool {
	if d, ok := t.get(h); ok && engine.Handle(d) == h {
		engine.SetHandle(d, 0)
	}
	return t.remove(h)
}

// typeRecords holds the records of derived datatypes that C reads, by the slot numbers in their
// handles. A slot keeps its record for one type after the other: a new record of package offheap
// for each type would add 5 % to the cost of the type. C finds a record only by the handle of
// its present type.
type typeRecords []typeRecord

type typeRecord struct {
	*shmfmt.Type
	open bool // C knows the handle and the record
}

// at returns the record of a handle.
func (l *typeRecords) at(h handle) *typeRecord {
	number := int(h >> kindBits & (1<<slotBits - 1))
	for number >= len(*l) {
		*l = append(*l, typeRecord{})
	}
	return &(*l)[number]
}

// open returns the record for a type with a new handle, or nil if C gets none.
func (l *typeRecords) open(h handle, d mpi.Datatype) *shmfmt.Type {
	r := l.at(h)
	if r.Type == nil {
		r.Type = offheap.New[shmfmt.Type]()
	}
	r.open = engine.ShareType(d, r.Type)
	if !r.open {
		return nil
	}
	return r.Type
}

// moved gives C the program of a type, after Go has moved elements of it.
func (l *typeRecords) moved(h handle, d mpi.Datatype) {
	if r := l.at(h); r.open {
		engine.ShareProgram(d, r.Type)
	}
}

// close ends the use of the record by a type, after C has forgotten the handle.
func (l *typeRecords) close(h handle, d mpi.Datatype) {
	if r := l.at(h); r.open {
		r.open = false
		engine.UnshareType(d, r.Type)
	}
}
