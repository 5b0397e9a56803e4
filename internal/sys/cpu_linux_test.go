package sys_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
)

// A thread that is moved may use the same CPUs afterwards as before; one that is bound is where it is
// bound to.
func TestMoveThread(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	before, err := sys.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range before {
		sys.MoveThread(func(allowed []int) int {
			if !slices.Equal(allowed, before) {
				t.Errorf("the thread may use the CPUs %v, not %v", allowed, before)
			}
			return cpu
		})
		if after, err := sys.AllowedCPUs(); err != nil || !slices.Equal(after, before) {
			t.Errorf("after the move the thread may use the CPUs %v, not %v (%v)", after, before, err)
		}
	}
	sys.MoveThread(func([]int) int { return -1 })
	last := before[len(before)-1]
	if err := sys.BindThread([]int{last}); err != nil {
		t.Fatal(err)
	}
	if cpu := sys.CurrentCPU(); cpu != last {
		t.Errorf("a thread that is bound to CPU %d is on %d", last, cpu)
	}
}
