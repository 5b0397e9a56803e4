package boot

import (
	"context"
	"crypto/ecdh"
	"errors"
	"os"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// ErrOver is the error when the job or the launcher has ended.
var ErrOver = errors.New("boot: the job is over")

const (
	// MaxValue is the length in bytes of the longest value that a process may publish in
	// one Exchange: the smallest limit on a value among the launchers of other MPIs.
	MaxValue = engine.MaxValue
	// MaxRanks is the size of the largest job.
	MaxRanks = engine.MaxRanks

	// ControlSegment is the name of the node's control segment, which belongs to no rank.
	ControlSegment = -1
	// NotesSegment holds the notes of the processes of this node, in the order
	// of Job.Local: see shmfmt.Note.
	NotesSegment = -2
	// firstBell is the name of the bell of rank 0: see BellFile.
	firstBell = -3
	// MaxName is the longest name of a host, in bytes: what DNS allows.
	MaxName = 255
	// Loopback is where the processes of a job of one host listen.
	Loopback = "127.0.0.1"
)

// oversubscribedAfter is the largest number of processes for each core of a node that is not
// oversubscribed.
const oversubscribedAfter = 8

// BellFile is the argument of Boot.Segment for the bell of a rank, which wakes the rank on an
// oversubscribed node: see sys.NewBellFile.
func BellFile(rank int) int { return firstBell - rank }

// BellRank is the rank of an argument from BellFile; ok is false for any other argument.
func BellRank(which int) (rank int, ok bool) {
	if which > firstBell {
		return 0, false
	}
	return firstBell - which, true
}

// Job is what a process knows of its job from the start. It does not change.
type Job struct {
	ID     string   // unique name of the job, safe to print
	Rank   int      // index of this process in the job
	Size   int      // processes in the job
	Hosts  []string // names of the hosts of the job
	Host   []int32  // by rank: index into Hosts of the host it runs on
	Local  []int    // indexes of the processes on this host, ascending, this one included
	Fabric string   // "shm", "tcp" or "inproc": what carries traffic between processes of one node
	Listen string   // where to listen for peers: 127.0.0.1 in a job of one host, else the address that the others reach
	Cores  int      // cores this node's processes may use in all, counted by the launcher
	Secret [32]byte // job secret; never printed, never in argv, environment or a log
	AppNum int      // which block of an MPMD command line this process belongs to
	Blocks []Block  // the blocks of the command line, in the order of their ranks; nil: one without names

	Sets []Pset // process sets of a job engine; no launcher sends them

	// Key is the own key of this process in a job that has no Secret, because a job engine started it. Each
	// two processes share a secret of their own then, by the public keys in their addresses.
	Key *ecdh.PrivateKey
	// Universe is the number of processes for which launcher or job engine have room, this job included, -1 if
	// an engine does not say, and 0 for ranks that are goroutines. AppNum is -1 if an engine does not say.
	Universe int
	// Leader is how the processes that serve other nodes reach the one that serves this node, "" unless a
	// job engine started them.
	Leader string
	// Parent is what the process that has asked for this job has in Spawn.Parent; "" if the launcher was asked
	// for it.
	Parent string
}

// Pset is a process set that a job engine defines.
type Pset = engine.Pset

// Block is a block of an MPMD command line.
type Block struct {
	Ranks int      // the number of its processes
	Psets []string // names of process sets that its processes belong to
}

// MaxPset is the longest name of a process set in bytes: MPI_MAX_PSET_NAME_LEN without its NUL.
const MaxPset = 1023

// Oversubscribed reports whether this node has more than 8 processes for each core. All processes
// of the node get the same result.
func (j *Job) Oversubscribed() bool { return len(j.Local) > oversubscribedAfter*j.Cores }

// Boot is the connection of a process to the launcher of its job, or a substitute for one.
type Boot interface {
	Job() *Job

	// Exchange publishes mine, at most MaxValue bytes, and returns the values of all
	// processes by rank. It is collective over the job: the n-th calls of all processes
	// belong together. It synchronises. It fails if a process has called Finalize, or if
	// the job is over.
	Exchange(mine []byte) ([][]byte, error)

	// Init tells the launcher that this process, which connected for a session, calls Init of
	// the world model: from now on others may wait for it in an Exchange.
	Init() error

	// InUse tells the launcher that this process uses MPI again after Finalize or InUse(false),
	// or that from now on its end is no failure of the job.
	InUse(used bool) error

	// Publish makes mine, at most MaxValue bytes, the value that Lookup returns for this
	// process. It is called once, and does not need the other processes.
	Publish(mine []byte) error

	// Lookup returns the value that a process has published. It waits until the process has,
	// or until ctx ends. It fails if the process ends without publishing, or if the job is over.
	Lookup(ctx context.Context, rank int) ([]byte, error)

	// Segment returns the descriptor of shared memory made for this node: the segment
	// of a rank, for ControlSegment the node's control segment, for NotesSegment its
	// notes, for BellFile(rank) the bell of a rank. The caller owns the descriptor. The
	// call does not need the other process. If the job has no such memory, or no bells,
	// the error is an errors.ErrUnsupported.
	Segment(rank int) (*os.File, error)

	// Ring asks the launcher to wake a rank of this node by its bell, for a process
	// that has no descriptor of the bell. It does not wait for the launcher.
	// If ranks have no bells the error is an errors.ErrUnsupported.
	Ring(rank int) error

	// Spawn starts a new job, and returns when all its processes have called Init. If the launcher has answered
	// that it has started none, the error is nil and Spawned says why. It gives up when ctx ends. Several calls
	// may be in progress. If this job cannot start others the error is an errors.ErrUnsupported.
	Spawn(ctx context.Context, s *Spawn) (*Spawned, error)

	// Finalize tells the launcher that this process enters no Exchange any more. InUse follows, and tells
	// whether from now on the end of the process is no failure of the job.
	Finalize() error

	// Abort ends the whole job; the launcher's exit status is code. It does not
	// return, except in ranks that are goroutines, where it closes Lost.
	Abort(code int, reason string)

	// Lost is closed when the launcher has ended: then the job is over.
	Lost() <-chan struct{}
}
