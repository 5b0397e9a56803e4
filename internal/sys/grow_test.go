//go:build amd64 || arm64

package sys

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// GrowStack takes addresses for a large stack.
func TestBRD01_GrowStack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector frees the stacks of other goroutines
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	grown, done := make(chan bool), make(chan bool)
	go func() {
		GrowStack()
		grown <- true
		<-done
	}()
	<-grown
	runtime.ReadMemStats(&after)
	close(done)
	if more := after.StackInuse - before.StackInuse; more < 300000 || more > 1<<20 {
		t.Errorf("stacks have grown by %d bytes", int64(more))
	}
}
