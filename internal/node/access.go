package node

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// permission says whether the kernel permits an access, as one attempt has shown.
type permission uint8

const (
	unknown permission = iota
	granted
	denied
)

// CanRead implements fabric.Reader: it reads the peer's probe once.
func (n *Node) CanRead(peer int) bool {
	p := n.peer(peer)
	if p.dead {
		return false
	}
	if d := p.door; p.read == unknown && d.Pid.Load() != 0 { // 0: the process has not opened its node yet
		p.read = denied
		var got [len(d.Probe)]byte
		err := n.backend.Read(p.local, d, [][]byte{got[:]}, d.ProbeAddr)
		if err == nil && got == d.Probe {
			p.read = granted
		} else {
			n.tellDenied(peer, d, err)
		}
	}
	return p.read == granted
}

// Report has the node say once that the kernel does not let this process read the memory of another one,
// so that long messages between them are copied twice.
func (n *Node) Report(write func(line string)) { n.report = write }

// tellDenied says why the memory of the peer with a door may not be read, which err is if it is not nil.
func (n *Node) tellDenied(peer int, d *shmfmt.Door, err error) {
	if n.report == nil {
		return
	}
	if err == nil || d.Pid.Load() == n.door.Pid.Load() { // the id is that of another process here
		err = errors.New("it is in another pid namespace")
	}
	n.report(fmt.Sprintf("long messages between processes of this node are copied twice: process %d may not read the memory of process %d: %v",
		n.members[n.me], peer, err))
	n.report = nil
}

// Read implements fabric.Reader.
func (n *Node) Read(peer int, dst [][]byte, addr uint64) error {
	p := n.known(peer)
	if p == nil || p.read != granted {
		return fmt.Errorf("%s: read of %d blocks from process %d: %w", n.name, len(dst), peer, fabric.ErrUnsupported)
	}
	return n.backend.Read(p.local, p.door, dst, addr)
}

// CanWrite implements fabric.Writer: it overwrites the peer's probe once with the value
// that it has read there.
func (n *Node) CanWrite(peer int) bool {
	if !n.CanRead(peer) {
		return false
	}
	p := n.known(peer)
	if p.write == unknown {
		p.write = denied
		probe := p.door.Probe
		if n.backend.Write(p.local, p.door, [][]byte{probe[:]}, p.door.ProbeAddr) == nil {
			p.write = granted
		}
	}
	return p.write == granted
}

// Write implements fabric.Writer. It needs no lock after CanWrite has returned true.
func (n *Node) Write(peer int, src [][]byte, addr uint64) error {
	p := n.known(peer)
	if p == nil || p.write != granted || n.Gone(peer) { // another process may have the id of a failed one
		return fmt.Errorf("%s: write of %d blocks to process %d: %w", n.name, len(src), peer, fabric.ErrUnsupported)
	}
	return n.backend.Write(p.local, p.door, src, addr)
}

// Process returns the process id of a peer for which CanWrite has returned true, and the flag
// that Gone loads. A caller that copies from and to the peer's memory without Read and Write
// needs both.
func (n *Node) Process(peer int) (pid int32, gone *atomic.Bool) {
	return n.known(peer).door.Pid.Load(), &n.gone[peer] // pairs with the store in Lose
}
