//go:build unix

package agent

import (
	"runtime"
	"sync"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// ThreadsOfLauncher is how many threads a launcher or an agent keeps for its goroutines. With
	// those of Go's runtime itself they are about as many as cmd/halo finds to be allowed before
	// the runtime starts.
	ThreadsOfLauncher = 5
	// threadsOfWarden is how many a warden keeps, which has GOMAXPROCS=1.
	threadsOfWarden = 3
)

// KeepThreads makes Go's runtime make n threads now, which it then keeps, if processes and threads
// are limited. The runtime ends a process that cannot have another thread when it needs one, and
// the ranks may use up what is allowed.
func KeepThreads(n int) {
	_, group := sys.LimitOfGroup()
	_, user := sys.LimitOfUser()
	if !group && !user {
		return
	}
	var all, started sync.WaitGroup
	started.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread() // no other goroutine can run on this thread
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
		})
	}
	all.Wait()
}
