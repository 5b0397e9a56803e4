package testrun

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

const (
	// Long bounds a wait of a test for something that takes seconds on a quiet machine. A machine that is a
	// hundred times slower still reaches its end.
	Long = 20 * time.Minute
	// idleLimit is how long the processes of a test may do nothing before the test counts as hung: a lost wake-up
	// lasts for ever, and no pause of a test lasts so long.
	idleLimit = 30 * time.Second
	// tick is the interval at which what the processes do is sampled.
	tick = time.Second
	// pauseMax is the longest pause between two looks of Until. A look wakes threads of the runtime and its monitor, for
	// 0.3 ms in all on a slow virtual machine: with pauses of 20 ms a test that hung counted as busy there.
	pauseMax = 100 * time.Millisecond
	// relapse is how many idle ticks a tick takes back that is not idle. On a busy machine now and then a tick of idle
	// processes is not.
	relapse = 4
)

// ErrHangs is the cause with which a context of Context ends when the test hangs.
var ErrHangs = errors.New("the test hangs: its processes are idle, or have run for too long")

// Context returns a context that ends when the test hangs: once this process and its descendants have been idle for
// 30 s, or after Long. They are idle if their threads have had no core, but for what timers take, and have not waited
// for one or for a disk. A slow or busy machine therefore ends no wait early: threads that wait for a core are not
// idle. Where the system does not tell what threads do, the context ends after Long. stop ends it before, with another
// cause.
func Context(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	return watched(parent, newSampler().sample)
}

// watched calls idle every tick, which reports whether the processes have been idle since the call before. The first
// call has none before.
func watched(parent context.Context, idle func(time.Duration) bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for ticks, idles := time.Duration(1), time.Duration(0); ; ticks++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if idle(tick) && ticks > 1 { // a wait that ends within a tick costs no sample
				idles++
			} else {
				idles = max(0, idles-relapse)
			}
			if idles*tick >= idleLimit || ticks*tick >= Long {
				cancel(ErrHangs)
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// Watch panics with what when the test hangs, as Context finds out, unless stop is called before. The traces of all
// goroutines follow.
func Watch(what string) (stop func()) { return WatchFunc(func() string { return what }) }

// WatchFunc is Watch with a text that is made when the test hangs.
func WatchFunc(what func() string) (stop func()) {
	ctx, stop := Context(context.Background())
	context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == ErrHangs {
			debug.SetTraceback("all")
			panic(what())
		}
	})
	return stop
}

// Until waits until ok reports true. It fails t with what, and the traces of all goroutines, when the test hangs, as
// Context finds out. Its pauses between two calls of ok grow to an eighth of the time that has passed, up to pauseMax: calls
// in quick succession would let a process that hangs look busy.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, stop := Context(context.Background())
	defer stop()
	for pause := 50 * time.Microsecond; !ok(); pause = min(pause+pause/8, pauseMax) {
		select {
		case <-ctx.Done():
			buf := make([]byte, 1<<20)
			t.Fatalf("%s: has not happened\n%s", what, buf[:runtime.Stack(buf, true)])
		case <-time.After(pause):
		}
	}
}
