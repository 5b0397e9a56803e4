//go:build linux

package run

import "testing"

// A program in C runs under Hydra as it is, on one node and on two.
func TestXLCH01_RingUnderHydra(t *testing.T) {
	need(t, "mpiexec.hydra")
	t.Parallel()
	program := programs(t, []entry{{name: "ring"}})["ring"]
	for _, nodes := range []string{"127.0.0.1", "127.0.0.1,127.0.0.2"} {
		r := command(t, nil, "mpiexec.hydra", "-launcher", "fork", "-hosts", nodes, "-n", "4", program)
		if r.status != 0 || r.out != "the token is 6 after 4 ranks\n" {
			t.Errorf("on %s: status %d\n%s%s", nodes, r.status, r.out, r.err)
		}
	}
}
