package dtype

import "github.com/halo-mpi/halo/internal/class"

// usable returns an error if old is null or no type may be made of it.
func usable(old *Type) error {
	if old == nil {
		return class.Errorf(class.Type, "old type is MPI_DATATYPE_NULL")
	}
	return old.derivable()
}

// derivable returns an error if no type may be made of t.
func (t *Type) derivable() error {
	if t.IsHandle() {
		return class.Errorf(class.Type, "%s is for messages only: no type is made of it", t)
	}
	return nil
}

func checkCount(count int64) error {
	if count < 0 {
		return class.Errorf(class.Count, "count %d is negative", count)
	}
	return nil
}

func checkBlock(what string, n int64) error {
	if n < 0 {
		return class.Errorf(class.Arg, "%s %d is negative", what, n)
	}
	return nil
}

// Contiguous makes count copies of old, one behind the other.
func Contiguous(count int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkCount(count)); err != nil {
		return nil, err
	}
	var b bounds
	b.grid(&old.lay, 0, count, old.lay.extent(), 1, 0)
	return single(&b, count, old, CombinerContiguous, nil, []int64{count})
}

// Vector makes count blocks of blocklength copies of old; stride is the distance
// of blocks in extents of old.
func Vector(count, blocklength, stride int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkCount(count), checkBlock("blocklength", blocklength)); err != nil {
		return nil, err
	}
	var b bounds
	ex, bytes := old.lay.extent(), int64(0)
	if count > 1 && blocklength > 0 { // else any stride is valid, even one that overflows
		bytes = b.mul(stride, ex)
	}
	b.grid(&old.lay, 0, count, bytes, blocklength, ex)
	return single(&b, b.mul(count, blocklength), old, CombinerVector, nil, []int64{count, blocklength, stride})
}

// Hvector is Vector with the stride in bytes.
func Hvector(count, blocklength, stride int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkCount(count), checkBlock("blocklength", blocklength)); err != nil {
		return nil, err
	}
	var b bounds
	b.grid(&old.lay, 0, count, stride, blocklength, old.lay.extent())
	return single(&b, b.mul(count, blocklength), old, CombinerHvector, []int64{stride}, []int64{count, blocklength})
}

// Resized makes a type like old with new bounds.
func Resized(old *Type, lb, extent int64) (*Type, error) {
	if err := usable(old); err != nil {
		return nil, err
	}
	var b bounds
	b.add(&old.lay, 1, 0, 0)
	b.mark(lb, b.checked.add(lb, extent))
	return single(&b, 1, old, CombinerResized, []int64{lb, extent})
}

// Dup makes a type like old, committed if old is. The duplicate of a predefined
// type is not predefined.
func Dup(old *Type) (*Type, error) {
	if err := usable(old); err != nil {
		return nil, err
	}
	t := newType(call{CombinerDup, nil, nil, []*Type{old}}, old.lay, old.sig)
	if old.Committed() {
		t.Commit()
	}
	return t, nil
}

// single makes a type of n copies of one old type. ints and addrs are the arguments of the
// constructor, which are copied.
func single(b *bounds, n int64, old *Type, made Combiner, addrs []int64, ints ...[]int64) (*Type, error) {
	d := &derived{}
	s := old.sig
	if n != 1 {
		s = &d.own
		s.repeat(&b.checked, n, old.sig)
	}
	lay, err := b.done(made)
	if err != nil {
		return nil, err
	}
	d.old[0] = old
	d.made = call{made, join(d.ints[:0], ints...), join(d.addrs[:0], addrs), d.old[:]}
	d.lay, d.sig, d.by, d.most = lay, s, bestMover(), lay.most(s.n)
	return &d.Type, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
