package bind

import "github.com/halo-mpi/halo/mpi"

// typeTable is the datatypes that C has handles of. A type knows its handle itself
// (mpi.Datatype.SetHandle): a map from types to handles would cost a type that is made for one
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
