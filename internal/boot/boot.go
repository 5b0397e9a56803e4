// Package boot is how a process learns which job it belongs to: from Halo's
// launcher, from a table in the same OS process (ranks as goroutines), or, when
// nobody started it as part of a job, as a world of one.
package boot

import "os"

// Job is what a process knows of its job at start. It does not change.
type Job struct {
	ID     string   // unique name of the job, safe to print
	Rank   int      // index of this process in the job
	Size   int      // processes in the job
	Local  []int    // indexes of the processes on this node, ascending, this one included
	Fabric string   // "shm", "tcp" or "inproc": what carries traffic between processes of one node
	Cores  int      // cores this node's processes may use in all, counted by the launcher
	Secret [32]byte // job secret; never printed, never in argv, environment or a log
	AppNum int      // which block of an MPMD command line this process belongs to
}

// Boot is the connection of a process to whoever started its job.
type Boot interface {
	Job() *Job

	// Exchange publishes mine and returns what every process published, by
	// rank. Collective over the job; the n-th call of each process belong
	// together. At most 1000 bytes each. It synchronises.
	Exchange(mine []byte) ([][]byte, error)

	// Segment returns the descriptor of shared memory made for this node:
	// rank's own segment, or the node's control segment for rank -1. The
	// caller owns the descriptor. Works without the help of the other process.
	Segment(rank int) (*os.File, error)

	// Finalize tells the launcher that from now on this process may end
	// without that being a failure of the job.
	Finalize() error

	// Abort ends the whole job; the launcher's exit status is code. It does
	// not return when there is a launcher.
	Abort(code int, reason string)

	// Lost is closed when the launcher is gone; the job is over then.
	Lost() <-chan struct{}
}
