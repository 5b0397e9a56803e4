package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// small raises an error if a type was made by a form with large counts: only the large forms
// of the inquiry calls can return its arguments.
func (l *Lib) small(by call.Number, d mpi.Datatype) error {
	if o := l.originOf(d); o != nil && o.large {
		return l.fail(mpi.ErrType, by, "%s was made with large counts: ask %s_c", d, by.C())
	}
	return nil
}

// contentsOf returns the arguments of the call that made a type, in the form of that call.
func (l *Lib) contentsOf(d mpi.Datatype) (mpi.Contents, error) {
	if o := l.originOf(d); o != nil && o.large {
		return engine.LargeContents(d)
	}
	return d.Contents()
}

// envelope is MPI_Type_get_envelope.
func (l *Lib) envelope(d mpi.Datatype) (integers, addresses, types int, combiner mpi.Combiner, err error) {
	err = l.small(call.TypeGetEnvelope, d)
	if err != nil {
		return
	}
	e, err := d.Envelope()
	return e.Integers, e.Addresses, e.Types, e.Combiner, err
}

// largeEnvelope is MPI_Type_get_envelope_c.
func (l *Lib) largeEnvelope(d mpi.Datatype) (integers, addresses, counts, types int, combiner mpi.Combiner, err error) {
	e, err := d.Envelope()
	if err != nil || e.Combiner == mpi.CombinerNamed {
		return 0, 0, 0, 0, e.Combiner, err
	}
	c, err := l.contentsOf(d)
	return len(c.Integers), len(c.Addresses), len(c.Counts), len(c.Types), c.Combiner, err
}

// contents is MPI_Type_get_contents.
func (l *Lib) contents(a args) error {
	d := l.datatype(a.word(0))
	if err := l.small(call.TypeGetContents, d); err != nil {
		return err
	}
	return l.storeContents(a, call.TypeGetContents, d, []room{{"integers", 1, a.numbers(4)}, {"addresses", 2, a.longs(5)}, {"datatypes", 3, a.longs(6)}})
}

// largeContents is MPI_Type_get_contents_c.
func (l *Lib) largeContents(a args) error {
	return l.storeContents(a, call.TypeGetContentsC, l.datatype(a.word(0)),
		[]room{{"integers", 1, a.numbers(5)}, {"addresses", 2, a.longs(6)}, {"large counts", 3, a.longs(7)}, {"datatypes", 4, a.longs(8)}})
}

// room is an array of the program that receives contents: what they are, the number of the
// argument with its length, and the array. The last room is the one for types.
type room struct {
	of     string
	length int
	array  array
}

// storeContents stores the arguments that a type was made with. Types among them that are not
// predefined get new handles.
func (l *Lib) storeContents(a args, by call.Number, d mpi.Datatype, rooms []room) error {
	c, err := l.contentsOf(d)
	if err != nil {
		return err
	}
	lists := [][]int{c.Integers, c.Addresses, c.Counts}[:len(rooms)-1]
	for i, r := range rooms {
		n := len(c.Types)
		if i < len(lists) {
			n = len(lists[i])
		}
		switch length := a.int(r.length); {
		case length < n:
			return l.fail(mpi.ErrArg, by, "%s has %d %s, and there is room for %d", d, n, r.of, length)
		case n > 0 && r.array.null():
			return l.fail(mpi.ErrArg, by, "%s has %d %s, and the array for them is null", d, n, r.of)
		}
	}
	for i, list := range lists {
		for k, v := range list {
			rooms[i].array.set(k, v)
		}
	}
	o := l.originOf(d)
	for k, t := range c.Types {
		h := l.addType(t)
		if o != nil && o.of[k] != nil {
			l.origins.keep(t, o.of[k])
		}
		rooms[len(rooms)-1].array.set(k, int(h))
	}
	return nil
}
