package bind

import "github.com/halo-mpi/halo/mpi"

// Calls that take the contiguous fast path where they can: see flat.

// reduceLocal is MPI_Reduce_local.
func (l *Lib) reduceLocal(inbuf, inoutbuf uintptr, count int, d handle, op mpi.Op) error {
	if f := l.flat(d, count, inbuf, inoutbuf); f.combines(op) {
		return f.local(inbuf, inoutbuf, count, op)
	}
	t := l.datatype(d)
	return op.ReduceLocal(l.buf(inbuf, count, t), l.buf(inoutbuf, count, t))
}

// put is MPI_Put.
func (l *Lib) put(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle) error {
	if from, ok := l.bytesAt(origin, count, d); ok && d == targetType && count == targetCount {
		return mpi.Put(w, from, target, int(disp))
	}
	return w.Untyped().Put(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType))
}

// get is MPI_Get.
func (l *Lib) get(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle) error {
	if to, ok := l.bytesAt(origin, count, d); ok && d == targetType && count == targetCount {
		return mpi.Get(w, to, target, int(disp))
	}
	return w.Untyped().Get(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType))
}

// accumulate is MPI_Accumulate.
func (l *Lib) accumulate(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle, op mpi.Op) error {
	if f := l.flat(d, count, origin, origin); f.accumulates(op) && d == targetType && count == targetCount {
		return f.accumulate(w, origin, count, target, int(disp), op)
	}
	return w.Untyped().Accumulate(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType), op)
}

// getAccumulate is MPI_Get_accumulate.
func (l *Lib) getAccumulate(w *mpi.Window, origin uintptr, count int, d handle, result uintptr, resultCount int, resultType handle, target int, disp int64, targetCount int, targetType handle, op mpi.Op) error {
	if f := l.flat(d, count, origin, result); f.accumulates(op) && d == targetType && d == resultType && count == targetCount && count == resultCount {
		return f.getAccumulate(w, origin, result, count, target, int(disp), op)
	}
	return w.Untyped().GetAccumulate(l.buf(origin, count, l.datatype(d)), l.buf(result, resultCount, l.datatype(resultType)), target, disp, targetCount, l.datatype(targetType), op)
}
