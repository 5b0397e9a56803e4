package mpi

import (
	"math"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
)

// casName is the name of CompareAndSwap in a list of operations.
const casName = "cas"

// opNames are the predefined operations by their names in lists: without MPI_, in lower case.
func opNames() map[string]op.Op {
	return map[string]op.Op{
		"sum": op.Sum, "prod": op.Prod, "min": op.Min, "max": op.Max, "land": op.Land, "lor": op.Lor, "lxor": op.Lxor,
		"band": op.Band, "bor": op.Bor, "bxor": op.Bxor, "minloc": op.Minloc, "maxloc": op.Maxloc,
		"replace": op.Replace, "no_op": op.NoOp,
	}
}

// OpIntrinsic reports whether accumulates of up to maxCount elements of type d are done by
// atomic operations of the calling process's processor, one for each element, without locks and
// without the target's processor, for every target. ops is a list of operations such as
// "sum,cas": names without MPI_, in lower case, with or without spaces; cas is CompareAndSwap.
// The result applies to elements that are aligned to their size.
//
// If it is true, the hint AccumulateIntrinsic makes such accumulates cheaper. With the hint set,
// it is true for any number of elements.
//
// ErrArg if the list is empty or a name is unknown; ErrCount if maxCount is negative; ErrOp if
// an operation is not defined on the type; ErrType as in Accumulate.
//
// C: MPIX_Win_op_intrinsic, an extension.
func (w *Window) OpIntrinsic(ops string, maxCount int, d Datatype) (bool, error) {
	if err := w.usable(call.WinOpIntrinsic); err != nil {
		return false, err
	}
	yes, err := w.intrinsic(ops, int64(maxCount), d)
	if err != nil {
		return false, w.failed(err, call.WinOpIntrinsic, Undefined)
	}
	return yes, nil
}

func (w *Window) intrinsic(ops string, count int64, d Datatype) (bool, error) {
	t, err := d.engine()
	if err != nil {
		return false, err
	}
	if count < 0 {
		return false, class.Errorf(class.Count, "number of elements is %d, which is negative", count)
	}
	names, all := opNames(), true
	for name := range strings.SplitSeq(ops, ",") {
		name = strings.Trim(name, " ")
		o, found := names[name]
		if name == casName {
			o, found = op.Replace, true
		}
		if !found {
			return false, class.Errorf(class.Arg, "%q in the list %q is not the name of an operation", name, ops)
		}
		if t.Size() == 0 {
			continue
		}
		leaf, typ, err := accumulated(o, t)
		if err != nil {
			return false, err
		}
		if name == casName {
			if !compares(leaf.Elem()) {
				return false, class.Errorf(class.Type, "elements of %s cannot be compared: only integers, logicals and bytes can", leaf)
			}
		}
		if leaf.Size() != int64(typ.Size()) { // a pair with padding, which is updated block by block
			all = false
			continue
		}
		each := t.Size() / leaf.Size()
		if count > math.MaxInt64/each {
			return false, class.Errorf(class.Count, "%d elements of %s exceed 64 bits", count, t.Describe(1))
		}
		yes, err := w.v.Intrinsic(o, typ, count*each, name == casName)
		if err != nil {
			return false, err
		}
		all = all && yes
	}
	return all, nil
}
