package testrun

import (
	"os"
	"os/signal"
	"syscall"
)

// DefaultSignals lets the children of this process be ended by SIGINT, SIGQUIT and SIGHUP. A shell starts background
// commands with the first two ignored, and nohup with the third. Children would inherit that, and a launcher ignores a
// signal that its caller ignores: tests that end it by a signal would wait for ever. Signals that
// this process catches have their default action in its children.
func DefaultSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
