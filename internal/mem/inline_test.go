package mem_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The methods of a Mem on fast paths inline, because a call would cost as much as the method.
func TestFastLooksInline(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler here: %v\n%s", err, out)
	}
	for _, name := range []string{"Of", "Mem.Len", "Mem.Contiguous", "Mem.Bytes", "Mem.Cut", "Mem.From", "Mem.First"} {
		if !strings.Contains(string(out), "can inline "+name+"\n") {
			t.Errorf("%s does not inline", name)
		}
	}
}
