//go:build unix

package agent

import (
	"os"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// asHost is the boot.Host of the agent. Sessions of ranks call it concurrently with the loop.
type asHost Agent

// Hello is called when rank has called Init, or opened a session.
func (h *asHost) Hello(rank int, inC, world bool) (*boot.Job, error) {
	a := (*Agent)(h)
	a.post(func() { a.hasJoined(rank, talk.Joining{InC: inC, World: world}) })
	s := a.share
	return &boot.Job{ID: s.ID, Rank: rank, Size: len(s.Where), Hosts: s.Hosts, Host: s.Where, Local: a.ranks,
		Fabric: s.Fabric, Listen: s.Listen, Cores: a.ownCores(), Secret: s.Secret, AppNum: s.AppOf(rank), Blocks: s.Blocks(),
		Universe: s.Universe, Parent: s.Parent}, nil
}

// Spawn is called when rank asks for a job.
func (h *asHost) Spawn(rank int, number uint32, body []byte) {
	a := (*Agent)(h)
	a.post(func() { a.up.Spawn(rank, number, body) })
}

// GiveUp is called when rank no longer waits for a job.
func (h *asHost) GiveUp(rank int, number uint32) {
	a := (*Agent)(h)
	a.post(func() { a.up.GiveUp(rank, number) })
}

// Init is called when rank calls Init and has opened a session before.
func (h *asHost) Init(rank int) {
	a := (*Agent)(h)
	a.post(func() { a.up.Init(rank) })
}

// InUse is called when rank uses MPI again, or may end from now on.
func (h *asHost) InUse(rank int, used bool) {
	a := (*Agent)(h)
	a.post(func() { a.up.InUse(rank, used) })
}

// Published is called with the value of rank.
func (h *asHost) Published(rank int, value []byte) {
	a := (*Agent)(h)
	a.post(func() { a.up.Published(rank, value) })
}

// Lookup is called when rank wants the value of another process.
func (h *asHost) Lookup(rank, of int) {
	a := (*Agent)(h)
	a.post(func() { a.up.Lookup(rank, of) })
}

// Segment returns shared memory.
func (h *asHost) Segment(which int) (*os.File, error) { return h.memory.Segment(which) }

// Exchanged is called with the values of all ranks of this host.
func (h *asHost) Exchanged(values [][]byte) {
	a := (*Agent)(h)
	a.post(func() { a.up.Exchanged(values) })
}

// Finalized is called when rank may end from now on.
func (h *asHost) Finalized(rank int) {
	a := (*Agent)(h)
	a.post(func() { a.up.Finalized(rank) })
}

// Aborted is called when rank aborts the job.
func (h *asHost) Aborted(rank, code int, reason string) {
	a := (*Agent)(h)
	a.post(func() { a.up.Aborted(rank, code, reason) })
}
