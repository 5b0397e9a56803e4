package world

import (
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/proc"
)

// leaver passes what the fabric to other hosts has to tell on to the process, which does not exist yet
// when the fabric opens its port.
type leaver struct{ p *proc.Proc }

func (l *leaver) parted(peer int) { l.p.Parted(peer) }

// listen opens the fabric to other hosts, and to other jobs.
func (w *ways) listen(job *boot.Job) (*tcp.Fabric, string, error) {
	w.leaver = &leaver{}
	return tcp.Listen(tcp.Config{Job: job, Alone: job.Size == 1, Parted: w.leaver.parted})
}

// abroad returns the fabric to processes of other jobs. A process that has had no use for sockets opens it now.
func (w *World) abroad() (*tcp.Fabric, error) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	if w.out.far == nil && w.way.far != nil {
		w.out.far = w.way.far
	}
	if w.out.far == nil {
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
	return w.out.far, nil
}

var _ proc.Far = (*tcp.Fabric)(nil)
