package main

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
)

// halo info lists all operations with the kernel chosen on this machine,
// and says what is wrong with a kernel that this machine does not have.
func TestInfoListsOperations(t *testing.T) {
	var out strings.Builder
	if err := printOperations(&out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for o := op.Op(1); int(o) <= op.Ops; o++ {
		if !strings.Contains(out.String(), "\n  "+o.String()+" ") {
			t.Errorf("%v is not listed", o)
		}
	}
	best := op.BestKernel()
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "  Sum ") && (!strings.Contains(line, " "+best.String()+" ") || !strings.Contains(line, "float64")) {
			t.Errorf("Sum is by something else than %v: %s", best, line)
		}
	}
	err := printOperations(&out, func(name string) string {
		if name == op.KernelEnv {
			return "abacus"
		}
		return ""
	})
	if err == nil || !strings.Contains(err.Error(), "HALO_OP_KERNEL=abacus") {
		t.Errorf("a kernel that nobody has: %v", err)
	}
}
