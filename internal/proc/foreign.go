package proc

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/wire"
)

// Processes of other jobs on this node, foreign ones for short.
//
// A connection with one comes with memory that the two share (package pair). Then frames travel through rings
// there, as those of the processes of the node, and the connection only wakes the other process, carries Leave, and
// shows by its end that the process has failed. So frames are in order: Leave is behind all frames in memory, since the
// receiver first empties its ring; and the first frame is sent when it is known whether there is memory.

// opening is the fabric to foreign processes to which there is no connection, or none any more: it opens one. Frames
// that wait for it fit into a ring.
type opening struct {
	fabric.Fabric // to all foreign processes
	rings         *shm.Fabric
}

// EagerMax implements fabric.Fabric.
func (o *opening) EagerMax() int { return o.rings.EagerMax() }

// ChunkMax implements fabric.Fabric.
func (o *opening) ChunkMax() int { return o.rings.ChunkMax() }

// ShareForeign has connections with foreign processes come with memory. n is the node of a process that has none
// otherwise. It follows AddFar.
func (p *Proc) ShareForeign(n *node.Node) {
	if p.rings == nil {
		p.rings = shm.New(n)
		p.addTransport(&transport{fab: p.rings})
	}
	p.opening = opening{p.far, p.rings}
}

// SharesForeign reports whether this process shares memory with foreign processes, where these do.
func (p *Proc) SharesForeign() bool { return p.opening.rings != nil }

// shares reports whether a connection with a process may come with memory.
func (p *Proc) shares(number int) bool {
	o := p.other(number)
	return o != nil && o.here && p.opening.rings != nil
}

// Report has the process say once why frames to a process of another job on this node travel through
// sockets.
func (p *Proc) Report(write func(line string)) { p.report = write }

// Attach is called by the fabric to foreign processes when there is a connection with one: m is the memory for
// its frames; if it is nil they travel through the connection, and why says why.
func (p *Proc) Attach(number int, m *pair.Memory, why error) {
	e := p.peers.At(number)
	if m == nil {
		e.fab = p.far
		if p.report != nil && p.shares(number) && !errors.Is(why, pair.ErrUnwanted) {
			id := p.Identity(number)
			p.report(fmt.Sprintf("messages between this process and process %d of job %s on this node travel through tcp: %v", id.Index, id.Job, why))
			p.report = nil
		}
		return
	}
	p.rings.Attach(number, m, p.far.(Far))
	e.near, e.fab = true, p.rings
	p.setRinged(number, true)
}

// setRinged sets whether frames to a foreign process travel through memory.
func (p *Proc) setRinged(number int, on bool) {
	if number >= len(p.ringed) {
		p.ringed = append(make([]bool, 0, number+1), p.ringed...)[:number+1]
	}
	p.ringed[number] = on
}

// Drain is called by the fabric to foreign processes when one of them has rung, has sent its Leave, or has failed: it
// delivers what has arrived in memory.
func (p *Proc) Drain(number int, s fabric.Sink) int { return p.rings.Drain(number, s) }

// Detach is called by the fabric to foreign processes when a connection with memory has ended.
func (p *Proc) Detach(number int) {
	p.close(number)
	p.rings.Detach(number)
}

// close ends sending to a foreign process through memory. Further frames wait for another connection.
func (p *Proc) close(number int) {
	e := p.peers.At(number)
	e.near, e.fab = false, p.fabricTo(number)
	p.setRinged(number, false)
}

// queueLeave is Queue of the last frame to a process of another job.
func (p *Proc) queueLeave(number int) {
	for _, w := range p.work {
		if d, ok := w.(Debtor); ok {
			d.Repay(number)
		}
	}
	h := &wire.Header{Kind: wire.Leave}
	if p.peers.At(number).queue.count() > 0 || !p.sendLeave(number, h) {
		p.Push(number, h, nil, nil)
	}
}

// sendLeave is Send of the last frame to a process of another job, on the connection itself.
func (p *Proc) sendLeave(number int, h *wire.Header) bool {
	if !p.far.Send(number, h, nil) {
		return false
	}
	if p.peers.At(number).near {
		p.close(number)
	}
	return true
}
