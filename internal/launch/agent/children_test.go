//go:build unix

package agent

import (
	"os"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// A child may end while the launcher registers for SIGCHLD.
func TestChildThatEndsWhileTheLauncherBeginsToListen(t *testing.T) {
	heard := make(chan bool)
	go func() {
		<-ChildSignals(func(c chan<- os.Signal, s ...os.Signal) {
			select { // delivers without blocking, as signal.Notify does
			case c <- s[0]:
			default:
			}
		})
		close(heard)
	}()
	select {
	case <-heard:
	case <-time.After(testrun.Long):
		t.Fatal("the launcher waits for itself")
	}
}
