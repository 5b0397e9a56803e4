package sys

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// More goroutines than Ps that wait for each other in loops of Yield all make progress. If they did
// not, no goroutine or timer of the process would run, so the test uses a process of its own.
func TestWaitersInYieldsArePreempted(t *testing.T) {
	const mark = "HALO_TEST_YIELD"
	if os.Getenv(mark) != "" {
		const waiters, rounds = 5, 20
		runtime.GOMAXPROCS(2)
		var arrived atomic.Int32
		var all sync.WaitGroup
		for range waiters {
			all.Go(func() {
				for round := int32(1); round <= rounds; round++ {
					arrived.Add(1)
					for arrived.Load() < round*waiters {
						Yield()
					}
				}
			})
		}
		all.Wait()
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mark+"=1")
	out, err := cmd.CombinedOutput()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatal("they wait for ever")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
