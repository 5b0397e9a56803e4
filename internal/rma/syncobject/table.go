package syncobject

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Table is the synchronisation objects of a window that this process has. The zero Table is empty.
type Table struct {
	objects map[Handle]*Object
	fresh   uint32   // how many numbers were ever given: from the highest counter down
	freed   []uint32 // numbers of freed objects, in the order in which they are to be given again
}

// restMin is how many freed numbers rest before one is given again, so that a signal too many, which
// is an error of the program, does not soon reach another object.
const restMin = 64

// Object is a synchronisation object of this process.
type Object struct {
	active *Wait // that has been started, and has not ended
	freed  bool
}

// Alloc makes n objects of a window at a process. serial counts the objects of the process.
func (t *Table) Alloc(n int, window uint64, process int, serial *uint64) ([]Handle, error) {
	if n < 0 {
		return nil, fail(class.Count, "%d synchronisation objects", n)
	}
	if n > Max-len(t.objects) {
		return nil, fail(class.NoMem, "%d synchronisation objects beside %d, at most %d", n, len(t.objects), Max)
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

// number is a counter that no object has.
func (t *Table) number() (number uint32) {
	if len(t.freed) > restMin || t.fresh == Max {
		number = t.freed[0]
		t.freed = slices.Delete(t.freed, 0, 1)
		return number
	}
	t.fresh++
	return shmfmt.CountersMax - t.fresh
}

// Find is the object that h names, nil if it has been freed.
func (t *Table) Find(h Handle) *Object { return t.objects[h] }

// Free frees objects that the table has, all or, with an error, none.
func (t *Table) Free(list []Handle) error {
	for i, h := range list {
		if t.objects[h].active != nil {
			return fail(class.Request, "object %d: its request is active: wait for it first", i)
		}
		if slices.Contains(list[:i], h) {
			return fail(class.Arg, "object %d is object %d as well", i, slices.Index(list, h))
		}
	}
	for _, h := range list {
		t.objects[h].freed = true
		delete(t.objects, h)
		t.freed = append(t.freed, uint32(h.Counter()))
	}
	return nil
}

// fail makes an error of a class.
func fail(c class.Class, format string, args ...any) error {
	return &class.Error{Class: c, Text: fmt.Sprintf(format, args...)}
}
