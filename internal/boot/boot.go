// Package boot is how a process learns which job it belongs to: from Halo's
// launcher, from a table in the same OS process (ranks as goroutines), or, if no
// launcher started it, as a world of one.
//
// A launcher and a program that it started communicate over a Unix socket pair. The
// program finds the descriptor of its end in the environment variable HALO_BOOT_FD;
// all secrets come over the socket. Both send frames:
//
//	length uint32 | kind uint8 | body of length-1 bytes
//
// with all numbers little-endian. The program sends first. All requests except Ring,
// Finalize, Init, InUse, Publish and Abort have an answer:
//
//	Hello      "HALO", protocol, wire and segment version uint16 each, -> Welcome | Refused
//	           build text, language uint8 (both may be missing),
//	           1 if the process calls Init of the world model uint8 (else it opens a session)
//	Exchange   at most MaxValue bytes                                  -> Table | Failed
//	Segment    rank int32 (-1 control, -2 notes, -3-rank its bell)     -> Descriptor | Failed
//	Ring       rank int32, which the launcher wakes by its bell
//	Finalize   empty; the process enters no Exchange any more, and its end is no failure
//	Init       empty; a process that has opened a session calls Init of the world model
//	InUse      uint8: 1 if the process uses MPI (again), 0 if its end is no failure from now on
//	Publish    at most MaxValue bytes, for Lookup
//	Lookup     rank uint32                                             -> Found
//	Abort      code int32, reason
//	Spawn      a new job: see spawn.go                                 -> Spawned, in any order
//
// If a process serves its node, instead of a launcher, others connect to its socket, and tell first who
// they are:
//
//	Give       number of a segment int32 as in Segment, with its descriptor attached: what this
//	           process has from the one that served the node before
//	Join       rank uint32, 1 if the process uses MPI uint8; a Hello follows
//
//	Welcome    the Job (see job.go)          Refused    text, then the launcher closes
//	Table      per rank: length uint16, bytes
//	Descriptor rank int32, with the descriptor attached to its first byte
//	Failed     kind uint8 of the request, 1 if unsupported uint8, text
//	Found      rank uint32, 1 and what it has published, or 0 and why it publishes nothing;
//	           sent when that is known, in any order
//	Over       text: the job has ended; sent at any time, nothing follows
//	Leave      1 if the process that serves the node may end from now on, 0 if not, uint8,
//	           and the other ranks that are connected, uint32 each; sent at any time
//
// A process that begins with the text "cmd=" instead speaks another protocol, PMI-1: see Plain.
//
// Hello, Refused and their framing must not change in later versions, so that each
// side can report to the other which version it needs. The end of the stream means
// that the other side has ended.
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
