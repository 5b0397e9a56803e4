package shm

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// foreign is a process of another job on this node. It shares nothing with this process but the memory between the
// two: a ring for each direction, and a door of each, by which the other one learns whether it sleeps. It is woken
// over the connection with it, since it may sleep on a futex or on sockets.
//
// A foreign process has a place in out, behind those of the local processes, so that a Send finds it as it
// finds them.
type foreign struct {
	peer  int
	mem   *pair.Memory
	ways  Ways
	place int    // in Fabric.out
	heard uint32 // the own bell when Arm last loaded it
}

// Ways are what the fabric needs from the connection with a foreign process.
type Ways interface {
	// Ring wakes the process.
	Ring(peer int)
	// Lose ends the connection: Detach follows.
	Lose(peer int, cause error)
}

// Attach has frames to and from a process of another job travel through the memory shared with it, until Detach.
func (f *Fabric) Attach(peer int, m *pair.Memory, ways Ways) {
	if more := peer + 1 - len(f.local); more > 0 {
		f.local = append(slices.Clip(f.local), make([]int32, more)...) // a copy: the node's list does not change
		for i := peer + 1 - more; i <= peer; i++ {
			f.local[i] = -1
		}
	}
	g := &foreign{peer: peer, mem: m, ways: ways}
	for g.place = len(f.members); g.place < len(f.out) && f.out[g.place] != nil; g.place++ {
	}
	if g.place == len(f.out) {
		f.out = append(f.out, nil)
	}
	rec := &shmfmt.PeerRecord{Out: shmfmt.NewProducer(m.Out()), Armed: &m.Theirs().Armed, Open: 1, In: shmfmt.NewConsumer(m.In())}
	f.out[g.place] = &Outgoing{PeerRecord: rec, local: -1, foreign: g}
	f.in = append(f.in, incoming{rec: rec, local: -1, job: peer, foreign: g})
	f.local[peer] = int32(g.place)
	f.foreigners = append(f.foreigners, g)
	m.Mine().Armed.Store(1) // as if Arm had been called since: a service may sleep, armed
}

// found returns the state of a foreign process, nil if none is attached.
func (f *Fabric) found(peer int) *foreign {
	if peer < len(f.local) && f.local[peer] >= int32(len(f.members)) {
		return f.out[f.local[peer]].foreign
	}
	return nil
}

// Detach ends the use of the memory shared with a process of another job.
func (f *Fabric) Detach(peer int) {
	g := f.found(peer)
	if g == nil {
		return
	}
	f.remove(g)
	f.out[g.place], f.local[peer] = nil, -1
	for i, o := range f.foreigners {
		if o == g {
			f.foreigners = append(f.foreigners[:i], f.foreigners[i+1:]...)
			break
		}
	}
	g.mem.Close()
}

// remove ends receiving from a foreign process.
func (f *Fabric) remove(g *foreign) {
	for i := range f.in {
		if f.in[i].foreign == g {
			f.in[i].rec.In = shmfmt.Consumer{}
			f.in = append(f.in[:i], f.in[i+1:]...)
			break
		}
	}
}

// Drain delivers what a foreign process has sent, after it has rung or when its connection ends.
func (f *Fabric) Drain(peer int, s fabric.Sink) int {
	g := f.found(peer)
	if g == nil {
		return 0
	}
	if f.armed {
		g.mem.Mine().Armed.Swap(1) // it has cleared the flag when it rang; full fence, as in Arm
	}
	for i := range f.in {
		if c := &f.in[i]; c.foreign == g {
			return f.drain(c, shmfmt.RingBytes/shmfmt.Line, s)
		}
	}
	return 0
}

// Arm implements fabric.Fabric.
func (f *Fabric) Arm() {
	f.Doorbell.Arm()
	f.armed = true
	for _, g := range f.foreigners {
		d := g.mem.Mine()
		d.Armed.Swap(1) // full fence, as in node.Doorbell.Arm; pairs with the load in Send, and the Swaps in ring and ringUnarmed
		if b := d.Bell.Load(); b != g.heard {
			g.heard = b // there is room for a frame that was refused
			f.Wake()
		}
	}
}

// Disarm implements fabric.Fabric.
func (f *Fabric) Disarm() {
	f.Doorbell.Disarm()
	if f.armed {
		f.armed = false
		for _, g := range f.foreigners {
			if d := g.mem.Mine(); d.Armed.Load() != 0 {
				d.Armed.Store(0)
			}
		}
	}
}

// ring wakes a peer that was armed when its door was last loaded.
func (f *Fabric) ring(o *Outgoing) {
	if o.foreign == nil {
		f.node.Ring(o.local)
	} else if o.Armed.Swap(0) != 0 && !planted.ForeignNotRung { // pairs with the store in Arm
		o.foreign.ways.Ring(o.foreign.peer)
	}
}

// ringUnarmed makes the Sleep of a peer return whose frame was refused: see node.RingUnarmed.
func (f *Fabric) ringUnarmed(local int, g *foreign) {
	if g == nil {
		f.node.RingUnarmed(local)
		return
	}
	d := g.mem.Theirs()
	d.Bell.Add(1)
	if d.Armed.Swap(0) != 0 { // pairs with the store in Arm
		g.ways.Ring(g.peer)
	}
}

// breaks ends sending to and receiving from a foreign process that has broken the format.
func (f *Fabric) breaks(g *foreign, cause error) {
	f.remove(g)
	f.out[g.place].Open = 0
	g.ways.Lose(g.peer, fmt.Errorf("the memory shared with process %d of another job: %w", g.peer, cause))
}

// CanRead implements fabric.Reader, for foreign processes.
func (f *Fabric) CanRead(peer int) bool {
	g := f.found(peer)
	return g != nil && g.mem.CanRead()
}

// Read implements fabric.Reader, for foreign processes.
func (f *Fabric) Read(peer int, dst [][]byte, addr uint64) error {
	if g := f.found(peer); g != nil {
		return g.mem.Read(dst, addr)
	}
	return fmt.Errorf("shm: read of %d blocks from process %d: %w", len(dst), peer, fabric.ErrUnsupported)
}
