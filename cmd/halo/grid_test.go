package main

import (
	"strings"
	"testing"
)

// halo info -grid tells what reordering gains.
func TestGain(t *testing.T) {
	for _, x := range []struct{ grid, slots, want string }{
		{"4x4", "8,8", "grid 4x4 on hosts of 8,8 slots: 4 edges between hosts, as in the order of the ranks"},
		{"8x2", "4,4,4,4", "6 edges between hosts, as in"},
		{"2x8", "8,8", "2 edges between hosts, 8 in the order of the ranks"},
		{"2x8p", "8,8", "4 edges between hosts, 8 in the order of the ranks"},
		{"2x2", "4", "0 edges between hosts, as in"},
	} {
		if got, err := gain(x.grid, x.slots); err != nil || !strings.Contains(got, x.want) {
			t.Errorf("%s on %s: %q, %v, want %q", x.grid, x.slots, got, err, x.want)
		}
	}
	for _, x := range []struct{ grid, slots, want string }{
		{"4x", "8", `"" is no length of a dimension`},
		{"0x4", "8", `"0" is no length`},
		{"1048576x2", "8", `"2" is no length of a dimension, such as 4, or 4p of a periodic one, in a grid of at most 1048576 positions`},
		{"2x2", "2,b", `"b" is no number of slots`},
		{"2x2", "3", "a grid of 4 positions on hosts of 3 slots"},
	} {
		if got, err := gain(x.grid, x.slots); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s on %s: %q, %v, want %q", x.grid, x.slots, got, err, x.want)
		}
	}
}
