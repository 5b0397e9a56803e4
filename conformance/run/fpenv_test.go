//go:build linux

package run

import (
	"fmt"
	"testing"
)

// Results are those of the caller's floating-point environment, and the same in all ranks, whether
// C, Go in a call, a service or a target computes them.
func TestFloatingPointEnvironments(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "fpenv"}})["fpenv"]
	for _, c := range []struct {
		fabric string
		ranks  int
		env    string
		args   []string
	}{
		{"shm", 2, "HALO_C_FAST=1", nil},
		{"shm", 3, "HALO_C_FAST=0", nil},
		{"tcp", 2, "HALO_C_FAST=1", nil},
		// The collector computes with floating point, on threads that start during calls.
		{"shm", 2, "GOGC=1", []string{"traps"}},
		{"tcp", 3, "GOGC=1", []string{"traps"}},
		{"shm", 2, "HALO_C_FAST=1", []string{"callbacks"}},
		{"tcp", 2, "HALO_C_FAST=1", []string{"callbacks"}},
	} {
		r := launched(t, c.fabric, c.ranks, []string{c.env}, program, c.args...)
		if r != (result{out: "no errors\n"}) {
			t.Errorf("%q of %d ranks over %s, %s: %+v", c.args, c.ranks, c.fabric, c.env, fmt.Sprintf("%.3000s", fmt.Sprint(r)))
		}
	}
}
