package world

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/leftover"
	"github.com/halo-mpi/halo/internal/meet"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/part"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// World is one running MPI process.
type World struct {
	Proc *proc.Proc
	P2P  *p2p.Engine
	Coll *coll.Engine
	Comm *comm.Comm // all processes of the job; nil before Join
	Self *comm.Comm // this process alone

	RMA  *rma.Engine
	Part *part.Engine
	File *file.Engine
	Meet *meet.Engine
	// Parent is the communicator with the processes that have spawned this job; nil if none have.
	Parent *comm.Comm
	// Memory is what windows and AllocMem take memory from.
	Memory *store.Store

	boot    boot.Boot
	note    *shmfmt.Note // what halo ps shows of this process; nil in goroutines
	process bool         // an OS process of its own
	closed  atomic.Bool
	checks  bool
	slow    atomic.Bool // closed, or checking: see SlowPath

	way      ways
	out      ways   // far: to other jobs, under the engine's lock
	checkers []bool // processes that are known to check; nil if this one does not. The engines share it, under the lock
	mu       sync.Mutex
	users    int  // the world model, from Join to Close, and the sessions
	idle     bool // the launcher was told that the process may end
	found    bool // the process has published how others reach it
}

// ways are the ways to the other processes.
type ways struct {
	near *node.Node  // through memory; nil if there is none
	far  *tcp.Fabric // nil if there is none
	addr string      // where far listens

	leaver *leaver // of far
}

// fabric returns far as a fabric.
func (w *ways) fabric() fabric.Fabric {
	if w.far == nil {
		return nil
	}
	return w.far
}

// Callers describes the goroutines or threads that call MPI in this process.
type Callers struct {
	Locked  bool                  // they are locked to threads
	Several bool                  // several of them may be in calls at the same time
	Places  int                   // what GOMAXPROCS was before the program lowered it until now, 0: it did not
	Fault   func(address uintptr) // proc.Policy.Fault
	Leavers *atomic.Uint32        // proc.Policy.Leavers, and Leave
	Leave   func(now bool) bool

	Watchdog proc.Watchdog // proc.Policy.Watchdog, nil for programs in Go
}

// Open opens the process that b knows of, over the fabric that the launcher chose. It does not
// need the other processes of the job.
func Open(b boot.Boot, callers Callers) (*World, error) {
	job := b.Job()
	n := note(b)
	n.note.SetSelf(os.Getpid())
	n.note.SetStage(shmfmt.StageInit)
	check, err := checkFromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	way, err := reach(b)
	if err != nil {
		return nil, err
	}
	services := 0
	if way.near != nil {
		services++
	}
	if way.far != nil {
		services++
	}
	// On an oversubscribed node callers that are locked to threads sleep like goroutines, so that
	// the whole process sleeps in Go's poller. But the service of sockets sleeps in the kernel.
	threads := callers.Locked && (way.far != nil || !job.Oversubscribed())
	runtime.GOMAXPROCS(threadPs(job, callers, threads, services, os.Getenv("GOMAXPROCS") != ""))
	policy := processPolicy(job, threads, callers.Locked && callers.Several)
	policy.Fault, policy.Leavers, policy.Leave = callers.Fault, callers.Leavers, callers.Leave
	if threads {
		policy.Watchdog = callers.Watchdog
	}
	w, err := start(b, way, check, policy, callers.Locked, n)
	if err == nil {
		w.process = true
		go w.watch()
	}
	return w, err
}

// threadPs is how many Ps the process gets, where n is the choice of the runtime or the user: one
// more if there are services, so that these run while the program computes on all the others.
//
// Unless the user has chosen, it is less in two cases, since each P has caches of memory. A
// program in C computes without a P: one for the caller, which sleeps in the kernel with it, and
// one for each service are enough if only one thread calls at a time. On an oversubscribed node it
// is one, or two if callers sleep as threads. A goroutine that sleeps in the kernel keeps its P,
// and the runtime's monitor checks every 20 us, for 10 ms, whether to take it. But if no other P is
// idle, the monitor takes it at once and then sleeps.
func threadPs(job *boot.Job, callers Callers, threads bool, services int, chosen bool) int {
	n := callers.Places
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	switch {
	case services == 0 && (chosen || !callers.Locked || callers.Several):
		return n
	case chosen:
		return n + 1
	case job.Oversubscribed() && threads:
		return 2
	case job.Oversubscribed():
		return 1
	case callers.Locked && !callers.Several:
		return 1 + min(services, n)
	}
	return n + 1
}

// reach opens the ways to the other processes: memory to those of this host, if the launcher
// says so, and tcp to the rest.
func reach(b boot.Boot) (way ways, err error) {
	job := b.Job()
	switch {
	case job.Size == 1:
		return way, nil
	case job.Fabric != "shm" && job.Fabric != "tcp":
		return way, fmt.Errorf("fabric %q: %w", job.Fabric, fabric.ErrUnsupported)
	case job.Fabric == "shm" && len(job.Local) > 1:
		way.near, err = node.Open(b)
		if err != nil {
			return way, err
		}
	}
	if way.near == nil || len(job.Local) < job.Size {
		way.far, way.addr, err = way.listen(job)
	}
	return way, err
}

// waitYields is how often a waiter yields the core before it sleeps: for 0.1 ms where a few
// processes share it.
const waitYields = 200

// processPolicy chooses how many times a waiter polls, and then yields the core, before it sleeps.
//
// If every process of the node has a core of its own, it does not yield before it sleeps: the core could only go to a
// stranger, a process of somebody else that computes, which has it then for its time slice of milliseconds, while the
// awaited process runs on its own core and answers within microseconds. It polls for a millisecond, and yields now and then
// to threads of its own process. If it loses its core meanwhile, there are
// strangers: for some time then waiters poll for a twentieth of that. A waiter that sleeps gets its core back soon after it
// has been woken. So beside strangers processes that communicate get their time slices at the same time.
// Rejected, with figures in docs/waiting.md: to yield first; to poll for ever. Where several threads of C may call, a waiter
// does yield, to them.
//
// With fewer cores than processes the core goes to one that may be the awaited one. A waiter that watches a word that all members of a
// collective store yields on an oversubscribed node too, since the others will store it soon.
//
// On an oversubscribed node a waiter for a frame sleeps at once. A yield may last as long as the
// time slices of all others, and the runtime's monitor checks a process that does not sleep every
// 20 us; these checks would take most of the time of the cores.
func processPolicy(job *boot.Job, threads, several bool) proc.Policy {
	p := proc.Policy{Loads: 16, WordLoads: 1, Yields: waitYields, WordYields: waitYields, Often: true, Slice: proc.LostSlice, Yield: sys.Yield, Threads: threads}
	switch {
	case len(job.Local) <= job.Cores:
		own := proc.OwnCore()
		own.Yield, own.Threads = p.Yield, p.Threads
		if several {
			own.Yields, own.WordYields, own.Longer = p.Yields, p.WordYields, 0
			own.Slice = math.MaxInt64 // threads of the program may have had the core for so long
		}
		return own
	case job.Oversubscribed():
		p.Yields, p.Often = 0, false
	}
	return p
}

// notes are what halo ps shows of a process; nil if nobody reads them.
type notes struct {
	note     *shmfmt.Note
	messages *shmfmt.NoteMessages
}

// note maps the notes of this process in those of the launcher.
func note(b boot.Boot) (n notes) {
	job := b.Job()
	f, err := b.Segment(boot.NotesSegment)
	if err != nil {
		return n
	}
	defer f.Close()
	mem, err := sys.Map(f, shmfmt.NotesMemory(len(job.Local)))
	if err != nil {
		return n
	}
	i := slices.Index(job.Local, job.Rank)
	return notes{shmfmt.OpenNote(mem, i), shmfmt.OpenMessages(mem, i, len(job.Local))}
}

func start(b boot.Boot, way ways, check bool, policy proc.Policy, inC bool, note notes) (*World, error) {
	return startOver(b, way, way.fabric(), check, policy, inC, note)
}

// startOver is start with another fabric to other hosts, for tests.
func startOver(b boot.Boot, way ways, far fabric.Fabric, check bool, policy proc.Policy, inC bool, note notes) (*World, error) {
	choice, err := choice.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	p, err := proc.New(b, way.near, far, policy)
	if err != nil {
		return nil, err
	}
	p.SetNote(note.note, note.messages)
	if inC {
		p.NameCallsInC()
	}
	if way.leaver != nil {
		way.leaver.p = p
	}
	w := &World{Proc: p, P2P: p2p.New(p), Memory: store.New(way.near), boot: b, note: note.note, way: way}
	w.Coll = coll.New(p, w.P2P, choice)
	if n, job := p.Node(), b.Job(); n != nil && n.Name() == "shm" && len(job.Local) > job.Cores {
		n.ShareCores(threadCores{}, job.Cores)
	}
	if strings.Contains(os.Getenv("LD_PRELOAD"), "/vgpreload_") { // valgrind runs this process, in Go or in C
		w.P2P.Unassisted()
	}
	if inC { // there many programs work although they break rules
		w.Coll.Untell()
	}
	w.RMA = rma.New(p, w.P2P, w.Coll, w.Memory)
	w.Part = part.New(p, w.P2P, w.Memory)
	w.File = file.New(p, w.P2P, w.Coll, w.RMA)
	w.Meet = meet.New(p, w.Coll, w.abroad)
	me := b.Job().Rank
	if check {
		w.checks, w.checkers = true, make([]bool, b.Job().Size)
		w.checkers[me] = true
		w.slow.Store(true)
		w.P2P.Check(w.checkers)
		w.Coll.Check(w.checkers)
		w.Coll.Learn(w.learn)
		w.RMA.Check(w.checkers)
	}
	w.Self = comm.New(p, p.SelfContext(), 0, []int32{int32(me)})
	p.Lock()
	err = w.Coll.Attach(w.Self, coll.NoSlot)
	p.Unlock()
	if err != nil {
		return nil, err
	}
	p.Start(w.P2P, w.P2P, w.Coll, w.RMA, w.Part)
	return w, nil
}

// watch ends the process when the launcher has ended: the job is over.
func (w *World) watch() {
	_ = sys.OmitReserved() // an error only means that dumps are larger
	<-w.boot.Lost()
	os.Exit(1)
}

// Close ends the world model: collective, after the user's last communication in it. It fails, and
// nothing has happened, while its receives or sends are pending. Sessions go on.
func (w *World) Close() error {
	if err := w.Pending(w.Model()); err != nil {
		return err
	}
	w.note.SetStage(shmfmt.StageFinalizing)
	err := w.close()
	if w.Idle() {
		w.note.SetStage(shmfmt.StageFinalized)
	} else {
		w.note.SetStage(shmfmt.StageRunning)
	}
	return err
}

func (w *World) close() error {
	if err := w.Coll.Claim(w.Comm, call.Finalize); err != nil {
		return err
	}
	w.Meet.Finish(0)
	// A context of its own keeps the end apart from collectives of the world: a Barrier that a
	// member has left out must not end with that member's Finalize.
	last := comm.New(w.Proc, w.Proc.LastContext(), w.Comm.Rank, w.Comm.Members)
	last.Name.Store(w.Comm.Name.Load())
	w.Proc.Lock()
	err := w.Coll.Attach(last, coll.NoSlot)
	w.Proc.Unlock()
	if err == nil {
		err = w.Coll.LastBarrier(w.Comm, last)
	}
	if err != nil {
		w.Coll.Unclaim(w.Comm)
		return err
	}
	if w.checks {
		var list leftover.List
		w.P2P.Unreceived(&list)
		io.WriteString(os.Stderr, list.Text(w.Proc.Job().Rank))
	}
	w.P2P.Drain()
	// A collective fails as soon as a member has ended. A process that has left the barrier is
	// about to end, so no process may end before all have left the barrier.
	if _, err := w.boot.Exchange(nil); err != nil {
		return err
	}
	w.closed.Store(true)
	w.slow.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users--
	w.idle = w.users == 0
	if w.idle {
		w.Meet.End()
	}
	return errors.Join(w.boot.Finalize(), w.boot.InUse(!w.idle))
}

// Process reports whether the process is an OS process of its own.
func (w *World) Process() bool { return w.process }

// Closed reports whether Close has been called.
func (w *World) Closed() bool { return w.closed.Load() }

// Checks reports whether the process is in checking mode: HALO_CHECK=1.
func (w *World) Checks() bool { return w.checks }

// Locate makes reports of checking mode say where calls of the program are, by l. It takes the lock.
func (w *World) Locate(l callsite.Locator) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	w.P2P.Locate(l)
	w.Coll.Locate(l)
	w.RMA.Locate(l)
}

// SlowPath reports, with one load, whether a call must not take its fast path: Closed or Checks.
func (w *World) SlowPath() bool { return w.slow.Load() }

// Abort ends the whole job with the exit status of a code: see boot.ExitStatus.
func (w *World) Abort(code int, reason string) {
	w.boot.Abort(code, reason)
	if w.process {
		os.Exit(boot.ExitStatus(code))
	}
}

// threadCores are the cores of the machine.
type threadCores struct{}

func (threadCores) Current() int                { return sys.CurrentCPU() }
func (threadCores) Move(choose func([]int) int) { sys.MoveThread(choose) }
