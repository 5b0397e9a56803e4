package node

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// peer is another process of the node, as far as its memory is used.
type peer struct {
	door  *shmfmt.Door
	seg   *shmfmt.Segment // nil if it cannot be mapped
	local int             // local index
	dead  bool            // its memory is not used any more

	read  permission
	write permission
}

// known returns the state of a peer whose memory has been used, nil for others.
func (n *Node) known(index int) *peer {
	if i := n.local[index]; i >= 0 {
		return n.peers[i]
	}
	return nil
}

// peer returns the state of a peer. The first call maps its segment; a peer whose segment cannot
// be mapped is lost.
func (n *Node) peer(index int) *peer {
	if p := n.known(index); p != nil {
		return p
	}
	local := n.LocalIndex(index)
	if local < 0 {
		if !n.Gone(index) {
			n.Lose(index, fmt.Errorf("%s: process %d is not on this node", n.name, index))
		}
		return &peer{local: local, dead: true}
	}
	p := &peer{local: local, dead: true, door: n.backend.Control().Door(local)}
	n.peers[local] = p
	if n.dropped[local] {
		return p
	}
	seg, err := n.backend.Segment(p.local)
	if err != nil {
		n.Lose(index, fmt.Errorf("%s: segment of process %d: %w", n.name, index, err))
		return p
	}
	p.seg, p.dead = seg, false
	return p
}

// Segment returns the segment of a peer. It returns nil if the peer has failed or cannot be mapped;
// then Down follows.
func (n *Node) Segment(peer int) *shmfmt.Segment {
	p := n.peer(peer)
	if p.dead {
		return nil
	}
	return p.seg
}

// PiecesFrom returns the Pieces of the messages of a peer to this process.
func (n *Node) PiecesFrom(peer int) *shmfmt.Pieces { return n.seg.Pieces(n.LocalIndex(peer)) }

// PiecesTo returns the Pieces of the messages of this process to a peer for which CanWrite has returned
// true.
func (n *Node) PiecesTo(peer int) *shmfmt.Pieces { return n.known(peer).seg.Pieces(n.me) }

// Loss is a failed peer that is not yet reported to the engine.
type Loss struct {
	Peer  int
	Cause error
}

// Lose reports that a peer has failed; whoever watches the processes calls it. Sleep returns for
// it, and TakeLosses returns it. Callable from any goroutine.
func (n *Node) Lose(peer int, cause error) {
	if peer < 0 || peer >= len(n.gone) {
		return
	}
	n.gone[peer].Store(true) // pairs with the load in Gone
	n.mu.Lock()
	n.lost = append(n.lost, Loss{peer, cause})
	n.losing.Store(true)
	n.mu.Unlock()
	n.Wake()
}

// Gone reports whether Lose was called for a peer, possibly before the engine is told.
// Callable from any goroutine; it takes no lock.
func (n *Node) Gone(peer int) bool { return n.gone[peer].Load() } // pairs with the store in Lose

// Losing reports whether TakeLosses would return something.
func (n *Node) Losing() bool { return n.losing.Load() } // pairs with the store in Lose

// LosingFlag returns what Losing loads, for code in C.
func (n *Node) LosingFlag() *atomic.Bool { return n.losing }

// TakeLosses returns the losses since its last call.
func (n *Node) TakeLosses() []Loss {
	n.mu.Lock()
	defer n.mu.Unlock()
	lost := n.lost
	n.lost = nil
	n.losing.Store(false)
	return lost
}

// Drop ends all use of the memory of a peer that has failed or broken the format.
func (n *Node) Drop(peer int) {
	if i := n.local[peer]; i >= 0 {
		n.dropped[i] = true
	}
	n.dropOffers(peer)
	if p := n.known(peer); p != nil {
		p.dead = true
	}
}

// Dropped reports whether Drop was called for a peer.
func (n *Node) Dropped(peer int) bool { return n.local[peer] >= 0 && n.dropped[n.local[peer]] }
