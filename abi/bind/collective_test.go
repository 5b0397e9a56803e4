package bind

import (
	"math"
	"testing"
)

// COL-17: blocks of types without data have no bytes, whatever their counts; a negative
// count stays negative.
func TestCOL17_BlocksOfTypesWithoutData(t *testing.T) {
	for _, x := range []struct{ n, count, want int }{
		{0, 5, 0}, {0, 0, 0}, {4, 0, 0}, {4, 5, 20}, {4, -1, -1}, {0, -1, -1}, {4, math.MaxInt, math.MaxInt},
	} {
		if got := times(x.n, x.count); got != x.want {
			t.Errorf("%d blocks of %d elements are %d, want %d", x.n, x.count, got, x.want)
		}
	}
}
