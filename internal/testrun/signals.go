package testrun

import (
	"os"
	"os/signal"
	"syscall"
)

// DefaultSignals lets the children of this process be ended by SIGINT and SIGHUP. A shell starts background
// commands with the first ignored, and nohup with the second. Children inherit that, and a launcher does not act on a
// signal that it has inherited as ignored: a test that ends a launcher by such a signal would wait for ever. Signals
// that this process catches have their default action in its children. The Go runtime always catches SIGQUIT.
func DefaultSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
