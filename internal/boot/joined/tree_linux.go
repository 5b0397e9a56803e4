package joined

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// A tree is the connections of a leader with others: node 0 is the root, and the leader of each other node
// dials the one of its parent, in the first Exchange, when all of them exist and the engine has their
// contacts. The handshake is that of package wire, with the secret that the two leaders derive from their
// keys, and everything after it is sealed. The kernel notices when another node is out of reach, by
// probes that it sends on silent connections: so a leader that is stopped, or has no time, is not taken
// for one that is lost.
//
// Frames go up and down:
//
//	Up          for each process below: rank uint32, length uint16, bytes of its value
//	Table       the values of all: boot.EncodeTable
//	NoExchange  rank uint32, which has called Finalize
//	Over        status uint32, reason
//	Leave       1 if the leader may end from now on, else 0, uint8
//
// A leader passes Table, NoExchange and Over on before it acts on them itself, because its process may end
// right after.
type tree struct {
	server   *server
	listener *os.File // nil in a job of one node
	contact  string   // of this leader

	// delivering is held while a table is passed on and delivered: a process below may have it before others
	// below and those of this node, call Finalize, and so make Exchanges fail.
	delivering sync.Mutex

	mu       sync.Mutex
	children map[int]*branch // by node: that have connected
	parent   *branch         // nil at the root, and before the first Exchange
	values   map[int][]byte  // by rank: of the current Exchange, of this node and those below
	want     int             // number of ranks of this node and those below
	opened   bool
	leaving  bool
	slots    chan struct{} // one for each handshake of a caller
}

// Kinds of frames between leaders.
const (
	kindUp uint8 = 1 + iota
	kindTable
	kindNoExchange
	kindOver
	kindLeave
)

// A branch is the connection with one leader.
type branch struct {
	node int
	file *os.File
	conn *wire.Stream
	mu   sync.Mutex // guards writes
	may  bool       // the other leader may end; guarded by tree.mu
}

func (b *branch) send(f []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn.Write(f) // the reader detects the end of the connection
}

// newTree makes the tree of a leader, and listens for those below.
func newTree(s *server) (*tree, error) {
	t := &tree{server: s, children: map[int]*branch{}, values: map[int][]byte{}, slots: make(chan struct{}, callersMax)}
	for _, n := range s.nodes {
		if within(n, s.node) {
			t.want++
		}
	}
	if s.count == 1 {
		t.contact = contact{s.id.Rank, noAddress, wire.PublicKey(s.key)}.encode()
		return t, nil
	}
	ip, err := address.Parse(s.listen)
	var ports address.Ports
	if err == nil {
		ports, err = address.PortsOfEnviron()
	}
	var port int
	if err == nil {
		t.listener, err = address.ListenIn(ports, func(p int) (l *os.File, err error) {
			l, port, err = sys.TCPEndpoint(ip, p).Listen()
			return l, err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("listening for other nodes on %s: %w", s.listen, err)
	}
	t.contact = contact{s.id.Rank, address.Join(s.listen, port), wire.PublicKey(s.key)}.encode()
	go t.accept()
	return t, nil
}

// above and below are the nodes next to node n in the tree.
func above(n int) int { return (n - 1) / treeWidth }

func below(n, count int) (first, end int) {
	return min(treeWidth*n+1, count), min(treeWidth*(n+1)+1, count)
}

// pair identifies the connection of two nodes, whose leaders have keys.
func (t *tree) pair(from, to int, peer contact) (wire.Pair, error) {
	secret, err := wire.PairSecret(t.server.key, peer.key)
	return wire.Pair{Secret: secret, Job: t.server.id.Job + "/leaders", From: from, To: to}, err
}

// contactOf returns the contact of the leader of a node.
func (t *tree) contactOf(node int) (contact, error) {
	s := t.server
	first := s.first(node)
	text, ok, err := s.owner.engine.Get(contactKey, first)
	if err == nil && !ok {
		err = errors.New("it has not put any")
	}
	var c contact
	if err == nil {
		c, err = parseContact(text, s.id.Size)
		if err == nil && s.nodes[c.rank] != node {
			err = fmt.Errorf("rank %d leads it, but %s says that this rank runs on node %d", c.rank, s.id.Engine, s.nodes[c.rank])
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", errContact, err)
		}
	}
	if err != nil {
		return c, fmt.Errorf("the contact of node %d, from rank %d by %s: %w", node, first, s.id.Engine, err)
	}
	return c, nil
}

// errContact is the error for a contact that is there and cannot be used.
var errContact = errors.New("unusable")

// grow adds a connection, and reads its frames from now on.
func (t *tree) grow(node int, conn *os.File, seal *wire.Sealed) {
	if raw, err := conn.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { sys.LimitSilence(int(fd), silence) })
	}
	b := &branch{node: node, file: conn, conn: wire.NewStream(conn, seal)}
	t.mu.Lock()
	old := t.children[node]
	if node < t.server.node {
		t.parent = b
	} else if old == nil {
		t.children[node] = b
	}
	leaving := t.leaving
	t.mu.Unlock()
	if old != nil {
		conn.Close()
		return
	}
	if leaving {
		b.send(frame.New(kindLeave).U8(1).Bytes())
	}
	go t.read(b)
}

// read takes the frames of a leader until its connection ends.
func (t *tree) read(b *branch) {
	r := frame.Reader{Source: b.conn, Limit: t.server.id.Size*(6+boot.MaxValue) + 1}
	for {
		kind, body, err := r.Next()
		if err == nil {
			err = t.take(b, kind, body)
		}
		if err != nil {
			b.file.Close()
			t.lost(b, err)
			return
		}
	}
}

// lost ends the job if a leader is lost that had not said that it may end.
func (t *tree) lost(b *branch, err error) {
	t.mu.Lock()
	if t.parent == b {
		t.parent = nil
	} else {
		delete(t.children, b.node)
	}
	may := b.may
	t.mu.Unlock()
	if may {
		return
	}
	time.Sleep(newsTime) // another process of that node may report what has happened
	why := fmt.Sprint(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		why = "its connection has ended"
	}
	t.server.end(1, fmt.Sprintf("node %d (rank %d and others) is lost to node %d (%s): %s; the job was ended", b.node,
		t.server.first(b.node), t.server.node, t.server.hostname, why), true)
}

// take handles a frame.
func (t *tree) take(b *branch, kind uint8, body []byte) error {
	r := frame.Body{Left: body}
	s := t.server
	switch up := b.node < s.node; {
	case kind == kindUp && !up:
		values := map[int][]byte{}
		for len(r.Left) > 0 && !r.Bad {
			rank := int(r.U32())
			values[rank] = append([]byte(nil), r.Take(r.U16())...)
			if rank >= s.id.Size || !within(s.nodes[rank], b.node) {
				r.Bad = true
			}
		}
		if !r.Bad {
			t.add(values)
			return nil
		}
	case kind == kindTable && up:
		t.deliver(append([]byte(nil), body...))
		return nil
	case kind == kindNoExchange:
		if rank := int(r.U32()); r.Done() && rank < s.id.Size {
			if planted.EndPassesTable {
				s.boot.Finalized(rank)
			}
			t.delivering.Lock()
			t.spread(b, frame.New(kindNoExchange).U32(uint32(rank)).Bytes())
			s.boot.Finalized(rank)
			t.delivering.Unlock()
			return nil
		}
	case kind == kindOver:
		if status := int(r.U32()); !r.Bad {
			reason := string(r.Left)
			s.end(status, reason, false)
			return nil
		}
	case kind == kindLeave:
		if may := r.U8() != 0; r.Done() {
			t.mu.Lock()
			b.may = may
			t.mu.Unlock()
			return nil
		}
	}
	return fmt.Errorf("frame of kind %d with %d bytes", kind, len(body))
}

// within reports whether a node is top or below it.
func within(node, top int) bool {
	for node > top {
		node = above(node)
	}
	return node == top
}

// exchange is called with the values of this node. The first time it connects the tree.
func (t *tree) exchange(values [][]byte) {
	t.mu.Lock()
	first := !t.opened
	t.opened = true
	t.mu.Unlock()
	if first && t.server.count > 1 {
		if err := t.open(); err != nil {
			t.server.end(1, err.Error(), true)
			return
		}
	}
	own := map[int][]byte{}
	for i, rank := range t.server.local {
		own[rank] = values[i]
	}
	t.add(own)
}

// add adds values to the current Exchange. When those of this node and all below are there, they go up; at
// the root they are those of all.
func (t *tree) add(values map[int][]byte) {
	s := t.server
	t.mu.Lock()
	for rank, v := range values {
		t.values[rank] = v
	}
	all, parent := t.values, t.parent
	full := len(all) == t.want
	if full {
		t.values = map[int][]byte{}
	}
	t.mu.Unlock()
	if !full {
		return
	}
	if s.node != 0 {
		w := frame.New(kindUp)
		for rank, v := range all {
			w.U32(uint32(rank)).U16(len(v)).Raw(v)
		}
		if parent != nil { // else it was lost, which has ended the job
			parent.send(w.Bytes())
		}
		return
	}
	list := make([][]byte, s.id.Size)
	for rank, v := range all {
		list[rank] = v
	}
	t.deliver(boot.EncodeTable(list))
}

// deliver ends the Exchange of this node and those below.
func (t *tree) deliver(table []byte) {
	t.delivering.Lock()
	defer t.delivering.Unlock()
	down := frame.New(kindTable).Raw(table).Bytes()
	for _, b := range t.branches(nil) {
		if b.node > t.server.node {
			b.send(down)
		}
	}
	t.server.boot.Deliver(table)
}

// branches returns all connections but one.
func (t *tree) branches(except *branch) (list []*branch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parent != nil && t.parent != except {
		list = append(list, t.parent)
	}
	for _, b := range t.children {
		if b != except {
			list = append(list, b)
		}
	}
	return list
}

// spread sends a frame to all leaders next to this one but the one that it came from.
func (t *tree) spread(from *branch, f []byte) {
	for _, b := range t.branches(from) {
		b.send(f)
	}
}

// noExchange tells all nodes that a rank of this one has called Finalize.
func (t *tree) noExchange(rank int) {
	t.spread(nil, frame.New(kindNoExchange).U32(uint32(rank)).Bytes())
}

// end tells all nodes that the job has ended.
func (t *tree) end(status int, reason string) {
	t.spread(nil, frame.New(kindOver).U32(uint32(status)).Rest(reason).Bytes())
}

// leave tells the leaders next to this one whether it may end.
func (t *tree) leave(may bool) {
	t.mu.Lock()
	t.leaving = may
	t.mu.Unlock()
	f := frame.New(kindLeave).U8(0)
	if may {
		f = frame.New(kindLeave).U8(1)
	}
	t.spread(nil, f.Bytes())
}
