// Package peers has the table in which each layer keeps its state of the processes that this
// process exchanges frames with.
//
// A table is indexed by local number: the processes of this process's job have their index in the job,
// processes of other jobs the numbers that follow, in the order in which this process has met
// them (package proc). A process talks to few others of a large job, so a table makes its entries
// in pages when one is first asked for.
package peers

import "iter"

// pageSize is the number of entries that are made at once. A process that nobody asked for costs
// 8/pageSize bytes.
const pageSize = 16

// Table has a T for each peer. The zero Table has entries that are zero at first. The caller of a method
// holds a lock, also for At, which may add entries.
type Table[T any] struct {
	pages []*[pageSize]T
	init  func(number int, t *T)
}

// Make returns a table for n peers, which grows when a higher number is asked for. init, which may
// be nil, is called for each entry when it is made.
func Make[T any](n int, init func(number int, t *T)) Table[T] {
	return Table[T]{pages: make([]*[pageSize]T, (n+pageSize-1)/pageSize), init: init}
}

// At returns the entry of a peer, and makes it if there is none. The pointer remains valid. It
// does not inline; Find does.
func (t *Table[T]) At(number int) *T {
	if found := t.Find(number); found != nil {
		return found
	}
	return t.add(number)
}

// Find returns the entry of a peer, nil if it has not been made.
func (t *Table[T]) Find(number int) (found *T) {
	if i := uint(number) / pageSize; i < uint(len(t.pages)) && t.pages[i] != nil {
		found = &t.pages[i][uint(number)%pageSize]
	}
	return found
}

func (t *Table[T]) add(number int) *T {
	if number < 0 {
		panic("peers: negative number")
	}
	i := number / pageSize
	for len(t.pages) <= i {
		t.pages = append(t.pages, nil)
	}
	p := new([pageSize]T)
	if t.init != nil {
		for k := range p {
			t.init(i*pageSize+k, &p[k])
		}
	}
	t.pages[i] = p
	return &p[number%pageSize]
}

// Forget resets the entry of a peer that is not used any more to what it was first. Pointers to it must not
// be used.
func (t *Table[T]) Forget(number int) {
	if e := t.Find(number); e != nil {
		*e = *new(T)
		if t.init != nil {
			t.init(number, e)
		}
	}
}

// All yields the entries that exist: those that were asked for, and their neighbours.
func (t *Table[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i, p := range t.pages {
			if p == nil {
				continue
			}
			for k := range p {
				if !yield(i*pageSize+k, &p[k]) {
					return
				}
			}
		}
	}
}

// Set is a set of processes of this process's job, by local number. Processes of other jobs are beyond its
// end, and so are not in it.
type Set []bool

// Has reports whether a process is in the set.
func (s Set) Has(number int) bool { return uint(number) < uint(len(s)) && s[number] }
