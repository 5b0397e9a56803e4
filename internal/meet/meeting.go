package meet

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// A meeting is one call of Accept or Connect at one member. Its steps, of which the root does the
// second while the others wait in the third:
//
//  1. All members tell the root where they listen.
//  2. The roots meet. The connecting one says at which address of another host its group listens, if it does
//     (kindHello). They exchange frames of kind kindGroup: a secret (of the accepting one), the members and
//     where they listen. Before a root sends its own, it repeats the first step if processes of the other group
//     are on another host and some of its members listen on the loopback address.
//  3. The root tells its members the other group, or the error.
//  4. All members introduce the processes of the other group to their fabric, and tell the root
//     whether that has succeeded. The roots tell each other, by kindVerdict, and then their members.
//     So no process sends to one that does not know it yet, and all members of both groups return the
//     same error, unless a root dies here.
type meeting struct {
	e       *Engine
	local   *comm.Comm
	root    int
	by      call.Number
	accepts bool
	held    []int32 // processes of the other group that the meeting holds
	addr    string  // where this process listens, as the other group is told

	// At the root only.
	places []byte    // placeSize of each member
	stream *tcp.Call // with the other root
	secret [32]byte
	serial uint64 // of the context, among those of the accepting root
	fatal  error  // of accept: no other client can do better
	group  []byte // the body of the other root's kindGroup
}

// Kinds of frames between two roots.
const (
	kindGroup = 1 + iota
	kindVerdict
	kindHello
)

// What a root tells its members.
const (
	toldError = iota
	toldGroup
	toldHost // the address of a process on another host, which is to reach them
)

const (
	// protocol is the version of the frames between roots, and of the descriptions of places.
	protocol = 2
	// placeSize is the length of the description of where a process listens: the lengths of address
	// and name of the host, and those; or noPlace and the text of an error.
	placeSize = 160
	noPlace   = 255
	// addressMax is the length of the longest address of a host.
	addressMax = 16
	// verdictSize is the length of what a member tells its root, and roots tell each other: a class,
	// 0 for none, and the text of an error.
	verdictSize = 4 + 252
	// groupMax bounds the description of a group: each process takes less than 1 KiB.
	groupMax = 64 << 20
)

// run runs the steps; meet is the second one.
func (m *meeting) run(meet func() error) (c *comm.Comm, err error) {
	e, local := m.e, m.local
	err = e.colls.Among(local, m.by, func() error {
		defer func() {
			if m.stream != nil {
				m.stream.Close()
			}
			e.p.Lock()
			e.p.Release(m.held)
			e.p.Unlock()
		}()
		isRoot := local.Rank == m.root
		if isRoot {
			m.places = make([]byte, placeSize*local.Size())
		}
		if err := m.collect(nil); err != nil {
			return err
		}
		kind := uint8(toldGroup)
		var body []byte
		var failed error // of the root
		if isRoot {
			failed = m.placeError()
			if failed == nil {
				failed = meet()
			}
			if failed != nil {
				kind, body = toldError, encodeVerdict(failed)
			} else {
				body = m.table()
			}
		}
		for {
			var err error
			kind, body, err = m.tell(kind, body)
			if err != nil {
				return err
			}
			if kind != toldHost {
				break
			}
			if err := m.collect(body); err != nil {
				return err
			}
		}
		switch {
		case failed != nil:
			return failed
		case kind == toldError:
			return decodeVerdict(body)
		}
		theirs, ctx, err := m.introduce(body)
		err = m.agree(err)
		if err != nil {
			return err
		}
		e.p.Lock()
		defer e.p.Unlock()
		c = e.colls.Connected(local, theirs, ctx, m.accepts)
		return nil
	})
	return c, err
}

// tell is the step in which the root tells the others something, which all return.
func (m *meeting) tell(kind uint8, body []byte) (uint8, []byte, error) {
	var head [12]byte
	head[0] = kind
	binary.LittleEndian.PutUint64(head[4:], uint64(len(body)))
	if err := m.e.colls.Tell(m.local, head[:], m.root, m.by); err != nil {
		return 0, nil, err
	}
	if n := binary.LittleEndian.Uint64(head[4:]); m.local.Rank != m.root {
		if n > groupMax+64 {
			return 0, nil, class.Errorf(class.Intern, "the root tells %d bytes about the other group", n)
		}
		body = make([]byte, n)
	}
	return head[0], body, m.e.colls.Tell(m.local, body, m.root, m.by)
}

// collect is the step in which all members tell the root where they listen. from is the address of a process
// on another host that is to reach them, or nil.
func (m *meeting) collect(from address.IP) error {
	return m.e.colls.Collect(m.local, m.place(from), m.places, m.root, m.by)
}

// offer tells the client the group of this process, and learns that of the client.
func (m *meeting) offer() error {
	rand.Read(m.secret[:])
	m.e.p.Lock()
	m.serial, _ = m.e.p.NewContext(proc.InSession(m.local.Ctx))
	m.e.p.Unlock()
	from, err := m.next(kindHello, addressMax)
	if err != nil {
		return err
	}
	m.fatal = m.listenFor(from)
	if m.fatal != nil {
		return m.fatal
	}
	if _, err := m.stream.Write(m.describe()); err != nil {
		return err
	}
	if err := m.receive(); err != nil {
		return err
	}
	m.fatal = m.overlap()
	return m.fatal
}

// hello tells the accepting root at which address of another host this group listens.
func (m *meeting) hello() error {
	var places []string
	for r := range m.local.Size() {
		addr, _, err := decodePlace(m.places[r*placeSize : (r+1)*placeSize])
		if err != nil {
			return err
		}
		places = append(places, addr)
	}
	_, err := m.stream.Write(frame.New(kindHello).Raw(beyond(places)).Bytes())
	return err
}

// receive receives the group of the other root.
func (m *meeting) receive() error {
	body, err := m.next(kindGroup, groupMax)
	if err == nil {
		m.group = append([]byte(nil), body...)
	}
	return err
}

// answer tells the accepting root the group of this process. It follows receive.
func (m *meeting) answer() error {
	r := frame.Body{Left: m.group}
	if version := r.U32(); version != protocol {
		return class.Errorf(class.Port, "the process at the port has version %d of the protocol, this one %d: build both from the same version of Halo", version, protocol)
	}
	copy(m.secret[:], r.Take(len(m.secret)))
	all, _, _, err := decodeGroup(m.group)
	if err != nil {
		return err
	}
	var places []string
	for _, o := range all {
		places = append(places, o.addr)
	}
	if err := m.listenFor(beyond(places)); err != nil {
		return err
	}
	if _, err := m.stream.Write(m.describe()); err != nil {
		return class.Errorf(class.ProcFailed, "the process that has accepted has ended: %v", err)
	}
	return m.overlap()
}

// next receives a frame of the other root.
func (m *meeting) next(kind uint8, limit int) ([]byte, error) {
	var head [frame.HeadSize]byte
	if _, err := io.ReadFull(m.stream, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:])) - 1
	if n < 0 || n > int64(limit) || head[4] != kind {
		return nil, fmt.Errorf("a frame of kind %d with %d bytes, want kind %d", head[4], n, kind)
	}
	var body []byte
	for int64(len(body)) < n { // what has not arrived takes no memory
		k := min(n-int64(len(body)), 1<<20)
		body = append(body, make([]byte, k)...)
		if _, err := io.ReadFull(m.stream, body[int64(len(body))-k:]); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// table is what the root tells its members: the secret, and the body of the other root's kindGroup.
func (m *meeting) table() []byte {
	var serial [8]byte
	binary.LittleEndian.PutUint64(serial[:], m.serial)
	return append(append(append([]byte(nil), m.secret[:]...), serial[:]...), m.group...)
}

// overlap returns an error if the other group has a process of this one.
func (m *meeting) overlap() error {
	all, _, _, err := decodeGroup(m.group)
	if err != nil {
		return err
	}
	m.e.p.Lock()
	defer m.e.p.Unlock()
	for r, o := range all {
		if n := m.e.p.Number(o.id); n >= 0 {
			if k := m.local.RankOf(int32(n)); k >= 0 {
				return class.Errorf(class.Comm, "the groups overlap: rank %d of the local group is rank %d of the remote one", k, r)
			}
		}
	}
	return nil
}

// text names a process, as an end of connections.
func text(id proc.ID) string { return fmt.Sprintf("%s/%d", id.Job, id.Index) }

// introduce makes the processes of the other group known, and returns their numbers and the context.
func (m *meeting) introduce(table []byte) (theirs []int32, ctx uint64, err error) {
	if len(table) < 40 {
		return nil, 0, class.Errorf(class.Intern, "a table of %d bytes", len(table))
	}
	secret, serial := [32]byte(table[:32]), binary.LittleEndian.Uint64(table[32:])
	all, heard, root, err := decodeGroup(table[40:])
	if err != nil {
		return nil, 0, err
	}
	f, err := m.e.far()
	if err != nil {
		return nil, 0, err
	}
	p := m.e.p
	p.Lock()
	defer p.Unlock()
	me := p.Identity(p.Job().Rank)
	for _, o := range all {
		sealed := !local(m.addr) || !local(o.addr)
		n, err := p.Meet(o.id, !sealed)
		if err != nil {
			return nil, 0, class.Errorf(class.Other, "%v", err)
		}
		theirs = append(theirs, int32(n))
		if o.id.Job == me.Job {
			continue
		}
		if cause := p.DownCause(n); cause != nil {
			return nil, 0, class.Errorf(class.ProcFailed, "process %d of job %s has been lost: %v", o.id.Index, o.id.Job, cause)
		}
		p.Hold(theirs[len(theirs)-1:])
		m.held = append(m.held, int32(n))
		f.Introduce(n, tcp.Remote{
			Name: fmt.Sprintf("process %d of job %s", o.id.Index, o.id.Job), Addr: o.addr, Host: o.host,
			Out: wire.Between(secret, text(me), text(o.id)), In: wire.Between(secret, text(o.id), text(me)),
			Sealed: sealed, First: text(me) < text(o.id),
		})
	}
	leader := p.Job().Rank
	switch {
	case !m.accepts:
		leader, serial = int(theirs[root]), heard
	case m.local.Rank != m.root:
		leader = int(m.local.Members[m.root])
	}
	ctx, ok := p.ContextOf(leader, serial)
	if !ok {
		return nil, 0, class.Errorf(class.Intern, "context %d is none of the root that has accepted", serial)
	}
	return theirs, ctx, nil
}

// agree returns the error of any member of the two groups.
func (m *meeting) agree(own error) error {
	var all []byte
	isRoot := m.local.Rank == m.root
	if isRoot {
		all = make([]byte, verdictSize*m.local.Size())
	}
	if err := m.e.colls.Collect(m.local, encodeVerdict(own), all, m.root, m.by); err != nil {
		return err
	}
	verdict := make([]byte, verdictSize)
	if isRoot {
		err := own
		for r := 0; r < m.local.Size() && err == nil; r++ {
			err = decodeVerdict(all[r*verdictSize : (r+1)*verdictSize])
		}
		copy(verdict, encodeVerdict(m.exchange(err)))
	}
	if err := m.e.colls.Tell(m.local, verdict, m.root, m.by); err != nil {
		return err
	}
	return decodeVerdict(verdict)
}

// exchange tells the other root the verdict of this group, and returns that of both.
func (m *meeting) exchange(own error) error {
	if _, err := m.stream.Write(frame.New(kindVerdict).Raw(encodeVerdict(own)).Bytes()); err != nil && own == nil {
		own = class.Errorf(class.ProcFailed, "the root of the other group has failed: %v", err)
	}
	body, err := m.next(kindVerdict, verdictSize)
	switch {
	case own != nil:
		return own
	case err != nil:
		return class.Errorf(class.ProcFailed, "the root of the other group has failed: %v", err)
	}
	if theirs := decodeVerdict(body); theirs != nil {
		ce := theirs.(*class.Error)
		return class.Errorf(ce.Class, "the other group has failed: %s", ce.Text)
	}
	return nil
}
