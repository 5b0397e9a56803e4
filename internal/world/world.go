// Package world brings one MPI process to life: it joins the job, opens the
// fabrics, starts the engine and makes the first communicators; and it ends it
// in order. What it returns is what the public packages stand on.
package world

import (
	"fmt"
	"os"
	"runtime"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/sys"
)

// World is one running MPI process.
type World struct {
	Proc *proc.Proc
	P2P  *p2p.Engine
	Comm *comm.Comm // all processes of the job
	Self *comm.Comm // this process alone
	boot boot.Boot
}

// Contexts of the communicators that exist from the start. Contexts made later
// are never below proc.FirstContext.
const (
	worldContext = 2
	selfContext  = 4
)

// Open joins the job that b knows of, over the fabric that the launcher chose.
// It is collective over the job.
func Open(b boot.Boot) (*World, error) {
	job := b.Job()
	var node *shm.Fabric
	var far fabric.Fabric
	var err error
	mine := []byte("-")
	var sockets *tcp.Fabric
	switch {
	case job.Size == 1:
	case job.Fabric == "shm" && len(job.Local) == job.Size:
		if node, err = shm.Open(b); err != nil {
			return nil, err
		}
	case job.Fabric == "tcp":
		var addr string
		if sockets, addr, err = tcp.Listen(tcp.Config{Job: job}); err != nil {
			return nil, err
		}
		far, mine = sockets, []byte(addr)
	default:
		return nil, fmt.Errorf("fabric %q: %w", job.Fabric, fabric.ErrUnsupported)
	}
	// After this, peers may map our segment and dial our address.
	all, err := b.Exchange(mine)
	if err != nil {
		return nil, err
	}
	if sockets != nil {
		addrs := make([]string, len(all))
		for i, a := range all {
			addrs[i] = string(a)
		}
		if err := sockets.Start(addrs); err != nil {
			return nil, err
		}
	}
	if job.Size > 1 {
		// One more P, so that the service runs while the program computes on
		// all the others.
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	w, err := start(b, node, far, processPolicy(job))
	if err == nil {
		go w.watch()
	}
	return w, err
}

// OpenGoroutine makes the process of a rank that is a goroutine of this OS
// process; node is its fabric.
func OpenGoroutine(b boot.Boot, node *shm.Fabric) (*World, error) {
	return start(b, node, nil, proc.Policy{Loads: 4, Yields: 100, Yield: runtime.Gosched})
}

// processPolicy chooses how long to load before yielding the core: long when
// every process of the node has one of its own.
func processPolicy(job *boot.Job) proc.Policy {
	p := proc.Policy{Loads: 16, Yields: 200, Yield: sys.Yield}
	if len(job.Local) <= job.Cores {
		p.Loads = 4000
	}
	return p
}

func start(b boot.Boot, node *shm.Fabric, far fabric.Fabric, policy proc.Policy) (*World, error) {
	p, err := proc.New(b, node, far, policy)
	if err != nil {
		return nil, err
	}
	w := &World{Proc: p, P2P: p2p.New(p), boot: b}
	all := make([]int32, b.Job().Size)
	for i := range all {
		all[i] = int32(i)
	}
	me := b.Job().Rank
	w.Comm = comm.New(p, worldContext, me, all)
	w.Self = comm.New(p, selfContext, 0, []int32{int32(me)})
	p.Start(w.P2P, w.P2P)
	return w, nil
}

// watch ends the process when the launcher is gone: the job is over.
func (w *World) watch() {
	<-w.boot.Lost()
	os.Exit(1)
}

// Close ends the process: collective, after the user's last communication.
func (w *World) Close() error {
	if err := w.boot.Finalize(); err != nil {
		return err
	}
	return w.Proc.Stop()
}
