package syncobject

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Table holds the synchronisation objects of a window that this process owns. The zero Table is
// empty.
type Table struct {
	objects map[Handle]*Object
	fresh   uint32   // how many counters have ever been used, from the highest one down
	freed   []uint32 // counters of freed objects, in the order in which they are reused
}

// restMin is the number of freed counters that stay unused before one is reused. So a signal to a freed
// object, which is an error of the program, does not soon reach another object.
const restMin = 64

// Object is a synchronisation object of this process.
type Object struct {
	active *Wait // the request that has been started and has not ended
	freed  bool
}

// Alloc makes n objects of a window at this process. process is 16 bits of the identity of this process, and
// serial counts the objects that it has made.
func (t *Table) Alloc(n int, window uint64, process uint16, serial *uint64) ([]Handle, error) {
	if n < 0 {
		return nil, class.Errorf(class.Count, "%d synchronisation objects", n)
	}
	if n > Max-len(t.objects) {
		return nil, class.Errorf(class.NoMem, "%d synchronisation objects beside %d, at most %d", n, len(t.objects), Max)
	}
	if t.objects == nil {
		t.objects = make(map[Handle]*Object, n)
	}
	list := make([]Handle, n)
	for i := range list {
		*serial++
		list[i] = newHandle(window, process, t.number(), *serial)
		t.objects[list[i]] = new(Object)
	}
	return list, nil
}

// number returns a counter that no object uses.
func (t *Table) number() (number uint32) {
	if len(t.freed) > restMin || t.fresh == Max {
		number = t.freed[0]
		t.freed = t.freed[1:] // append copies the rest to new memory when this memory is full
		return number
	}
	t.fresh++
	return shmfmt.CountersMax - t.fresh
}

// Find returns the object that h names, nil if it has been freed.
func (t *Table) Find(h Handle) *Object { return t.objects[h] }

// Free frees objects of the table: Find returns each of them. If it returns an error it has freed none.
func (t *Table) Free(list []Handle) error {
	for i, h := range list {
		if err := t.free(list, i); err != nil {
			for _, h := range list[:i] {
				t.objects[h].freed = false
			}
			return err
		}
		t.objects[h].freed = true
	}
	for _, h := range list {
		delete(t.objects, h)
		t.freed = append(t.freed, uint32(h.Counter()))
	}
	return nil
}

// free returns an error unless object i of the list may be freed. The objects before it are marked as freed.
func (t *Table) free(list []Handle, i int) error {
	switch o := t.objects[list[i]]; {
	case o.active != nil:
		return class.Errorf(class.Request, "object %d: its request is active: wait for it first", i)
	case o.freed:
		return class.Errorf(class.Arg, "object %d is object %d as well", i, slices.Index(list, list[i]))
	}
	return nil
}
