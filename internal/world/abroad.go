package world

import (
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/sys"
)

// leaver passes the calls of the fabric to other hosts on to the process. The fabric needs it when it opens
// its port, before the process exists.
type leaver struct{ p *proc.Proc }

func (l *leaver) parted(peer int) { l.p.Parted(peer) }

// Attach, Drain and Detach implement tcp.Rings.
func (l *leaver) Attach(peer int, m *pair.Memory, why error) { l.p.Attach(peer, m, why) }

func (l *leaver) Drain(peer int, s fabric.Sink) int { return l.p.Drain(peer, s) }

func (l *leaver) Detach(peer int) { l.p.Detach(peer) }

// listen opens the fabric to other hosts and to other jobs, and returns it with its address.
func (w *ways) listen(job *boot.Job) (*tcp.Fabric, string, error) {
	w.leaver = &leaver{}
	c := tcp.Config{Job: job, Alone: job.Size == 1, Parted: w.leaver.parted}
	if w.shares(job) {
		c.Rings = w.leaver
	}
	return tcp.Listen(c)
}

// shares reports whether this process reaches processes of other jobs on this node through memory: it does if it
// reaches those of its own job through memory, or would if there were any on this node. It does not under the race
// detector, which does not see what two jobs in one process synchronise through such memory.
func (w *ways) shares(job *boot.Job) bool { return (w.near != nil || job.Fabric == "shm") && !sys.Race }

// abroad returns the fabric to processes of other jobs. A process that has not used sockets so far opens it now.
func (w *World) abroad() (*tcp.Fabric, error) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	if w.out.far != nil {
		return w.out.far, nil
	}
	if w.way.far != nil {
		w.out.far = w.way.far
	} else {
		w.out.near = w.way.near
		f, _, err := w.out.listen(w.Proc.Job())
		if err != nil {
			return nil, err
		}
		w.out.leaver.p = w.Proc
		w.out.far = f
		if w.process {
			w.Proc.AddP() // its service needs one while the program computes
		}
		w.Proc.AddFar(f)
	}
	if job := w.Proc.Job(); w.way.shares(job) {
		if err := w.shareForeign(job); err != nil {
			return nil, err
		}
	}
	return w.out.far, nil
}

// shareForeign has the process share memory with those of other jobs on this node.
func (w *World) shareForeign(job *boot.Job) error {
	n := w.way.near
	if n == nil { // it shares none with processes of its job
		alone, err := inproc.NewNode([]int{job.Rank}, job.Size)
		if err != nil {
			return err
		}
		n, err = alone.Open(0)
		if err != nil {
			return err
		}
	}
	w.Proc.ShareForeign(n)
	return nil
}

var _ proc.Far = (*tcp.Fabric)(nil)
