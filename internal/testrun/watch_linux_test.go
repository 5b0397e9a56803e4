package testrun

import (
	"context"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

// BRD-09: a wait of a test is over after some time in which its processes do nothing, however long they had
// worked before, or after Long.
func TestBRD09_WaitsMeasureProgress(t *testing.T) {
	for name, c := range map[string]struct {
		busy func(second int) bool
		over time.Duration
	}{
		"always idle":     {func(int) bool { return false }, 31 * time.Second},
		"idle at the end": {func(second int) bool { return second <= 600 }, 630 * time.Second},
		"pauses":          {func(second int) bool { return second%4 == 0 }, Long},
		"a busy machine":  {func(second int) bool { return second%10 == 0 }, 56 * time.Second},
		"spinning":        {func(int) bool { return true }, Long},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				idle := func(time.Duration) bool { return !c.busy(int(time.Since(start) / time.Second)) }
				ctx, stop := watched(t.Context(), idle)
				defer stop()
				if ctx.Err() != nil {
					t.Error("over at once")
				}
				<-ctx.Done()
				if took := time.Since(start); took != c.over || context.Cause(ctx) != ErrHangs {
					t.Errorf("over after %v, want %v: %v", took, c.over, context.Cause(ctx))
				}
				ctx, stop = watched(t.Context(), func(time.Duration) bool { return true })
				stop()
				time.Sleep(2 * Long)
				if context.Cause(ctx) == ErrHangs {
					t.Error("a wait is over that was stopped")
				}
			})
		})
	}
}

// A process that computes is not idle, nor is one that would compute if it had a core, nor one of which a
// descendant computes. What is asserted comes for certain, sooner or later.
func TestBRD09_IdleProcesses(t *testing.T) {
	s := newSampler()
	s.sample(tick)
	until := func(what string, idle bool) {
		t.Helper()
		for end := time.Now().Add(Long); s.sample(time.Second/4) != idle; time.Sleep(time.Second / 4) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	until("a process that sleeps is never idle", true)
	cmd := exec.Command("sh", "-c", "(while :; do :; done) & read line; kill $!")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until("a grandchild that computes is idle", false)
	in.Close()
	cmd.Wait()
	until("a process is never idle again", true)
}
