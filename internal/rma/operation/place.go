package operation

import (
	"math"
	"math/bits"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Place is the layout at the target: Count elements of Type, whose displacement 0 is where the
// operation's displacement points. Zero: contiguous, as long as the data.
type Place struct {
	Type  *dtype.Type
	Count int64
}

// Span is the offsets of the first byte of size bytes in this layout, and of the byte behind the
// last, from the displacement on. It returns an error if the layout has another size, or exceeds 64
// bits.
func (l *Place) Span(size int64) (lo, hi int64, err error) {
	t := l.Type
	if t == nil {
		return 0, size, nil
	}
	if over, n := bits.Mul64(uint64(max(l.Count, 0)), uint64(t.Size())); l.Count < 0 || over != 0 || n != uint64(size) {
		return 0, 0, class.Errorf(class.Count, "%d elements of %v at the target are not the %d bytes of the origin", l.Count, t, size)
	}
	if size == 0 {
		return 0, 0, nil
	}
	lb, length := t.TrueExtent()
	_, extent := t.Extent()
	lo, hi = lb, lb+length
	over, far := bits.Mul64(dtype.Magnitude(extent), uint64(l.Count-1))
	switch {
	case over != 0 || far > math.MaxInt64:
	case extent >= 0 && hi <= math.MaxInt64-int64(far):
		return lo, hi + int64(far), nil
	case extent < 0 && lo >= math.MinInt64+int64(far):
		return lo - int64(far), hi, nil
	}
	return 0, 0, class.Errorf(class.RMARange, "%d elements of %v exceed 64 bits", l.Count, t)
}
