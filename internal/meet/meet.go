package meet

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Fabric is the fabric to processes of other jobs.
type Fabric func() (*tcp.Fabric, error)

// Engine is what one process needs to meet others.
type Engine struct {
	p     *proc.Proc
	colls *coll.Engine
	far   Fabric // opens the fabric at the first call

	mu       sync.Mutex
	ports    map[string]*tcp.Port // by name
	services map[string]*service  // that this process has published, by name
	links    map[*comm.Comm]bool  // communicators with processes of other jobs that have not been disconnected
}

// New returns the engine of p.
func New(p *proc.Proc, colls *coll.Engine, far Fabric) *Engine {
	e := &Engine{p: p, colls: colls, far: far, ports: map[string]*tcp.Port{}, services: map[string]*service{}, links: map[*comm.Comm]bool{}}
	colls.Introduce(e.strangers)
	return e
}

// Options say where a port listens; zero values leave it to Halo.
type Options struct {
	Address string // an IP address of this host
	Port    int
}

// answerWithin is how long an accepting root waits for a client to describe its group while other clients
// wait to be accepted. Otherwise roots wait for each other as long as the connection lives, since a debugger
// may have stopped a process, and the calls end with their contexts.
const answerWithin = 20 * time.Second

// Open opens a port and returns its name. It is local.
func (e *Engine) Open(o Options) (name string, err error) {
	if o.Address != "" {
		if _, err := address.Parse(o.Address); err != nil {
			return "", class.Errorf(class.Arg, "ip_address: %v", err)
		}
	}
	if o.Port < 0 || o.Port > 65535 {
		return "", class.Errorf(class.Arg, "ip_port: %d is no port", o.Port)
	}
	f, err := e.far()
	if err != nil {
		return "", &class.Error{Class: class.Other, Text: err.Error(), Cause: err}
	}
	var secret [32]byte
	rand.Read(secret[:])
	p, err := f.OpenPort(secret, o.Address, o.Port)
	if err != nil {
		return "", &class.Error{Class: class.Port, Text: err.Error(), Cause: err}
	}
	name = formatName(p.Addr(), secret)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ports[name] = p
	return name, nil
}

// ClosePort closes a port that this process has opened. Who waits to be accepted is turned away.
func (e *Engine) ClosePort(name string) error {
	e.mu.Lock()
	p := e.ports[name]
	delete(e.ports, name)
	e.mu.Unlock()
	if p == nil {
		return notOpen(name)
	}
	p.Close()
	return nil
}

func notOpen(name string) error {
	if _, _, err := parseName(name); err != nil {
		return err
	}
	return class.Errorf(class.Port, "this process has not opened the port %s, or has closed it", hidden(name))
}

// A port name:
//
//	halo://ADDRESS:PORT/SECRET
const nameMark = "halo://"

func formatName(addr string, secret [32]byte) string {
	return nameMark + addr + "/" + base64.RawURLEncoding.EncodeToString(secret[:])
}

// parseName returns the address and the secret of a port.
func parseName(name string) (addr string, secret [32]byte, err error) {
	bad := func(why string) error {
		return class.Errorf(class.Port, "%q is no name of a port: %s", hidden(name), why)
	}
	rest, ok := strings.CutPrefix(name, nameMark)
	if !ok {
		return "", secret, bad("it does not begin with " + nameMark)
	}
	addr, key, ok := strings.Cut(rest, "/")
	if !ok {
		return "", secret, bad("it has no secret")
	}
	if _, port, err := address.Split(addr); err != nil || port == 0 {
		return "", secret, bad("it has no address and port")
	}
	b, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(b) != len(secret) {
		return "", secret, bad("its secret is not whole")
	}
	return addr, [32]byte(b), nil
}

// hidden is a name of a port for errors, which must not tell its secret.
func hidden(name string) string {
	if rest, ok := strings.CutPrefix(name, nameMark); ok {
		addr, _, _ := strings.Cut(rest, "/")
		return nameMark + printable(addr) + "/..."
	}
	return printable(name)
}

func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), 100)]
}

// Accept waits at a port for a group that connects, and returns the intercommunicator with it. It is
// collective over local; only the root reads ctx and name. It takes the lock.
func (e *Engine) Accept(ctx context.Context, name string, local *comm.Comm, root int) (*comm.Comm, error) {
	m := &meeting{e: e, local: local, root: root, by: call.CommAccept, accepts: true}
	return m.run(func() error { return m.accept(ctx, name) })
}

// Connect connects to the group that accepts at a port, and returns the intercommunicator with it. It
// is collective over local; only the root reads ctx and name. It takes the lock.
func (e *Engine) Connect(ctx context.Context, name string, local *comm.Comm, root int) (*comm.Comm, error) {
	m := &meeting{e: e, local: local, root: root, by: call.CommConnect}
	return m.run(func() error { return m.connect(ctx, name) })
}

// Refuse is Accept or Connect at a root whose arguments are wrong: all members get err.
func (e *Engine) Refuse(local *comm.Comm, root int, by call.Number, err error) error {
	m := &meeting{e: e, local: local, root: root, by: by}
	_, err = m.run(func() error { return err })
	return err
}

// waiting describes, for halo ps, what a root waits for that no process of its job does.
type waiting string

// AppendAbout implements proc.About.
func (w waiting) AppendAbout(b []byte) []byte {
	const room = shmfmt.NoteText - len(shmfmt.ForAnotherJob)
	return append(append(b, w[:min(len(w), room)]...), shmfmt.ForAnotherJob...)
}

// Waiting notes that the root of a call waits for another job, until done is called.
func (e *Engine) Waiting(what string) (done func()) { return e.p.Outside(waiting(what)) }

// ended is the error of a call that ends with its context: the cause if it has a class.
func ended(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	var ce *class.Error
	switch {
	case errors.As(cause, &ce):
		return ce
	case errors.Is(cause, context.DeadlineExceeded):
		return &class.Error{Class: class.Port, Text: what + " before the time was over", Cause: cause}
	}
	return class.Errorf(class.Port, "%s before the call was cancelled: %w", what, cause)
}

// accept is the part of the root of Accept until it knows the other group.
func (m *meeting) accept(ctx context.Context, name string) error {
	m.e.mu.Lock()
	p := m.e.ports[name]
	m.e.mu.Unlock()
	if p == nil {
		return notOpen(name)
	}
	for {
		done := m.e.Waiting("Accept at " + hidden(name))
		call, err := p.Accept(ctx)
		done()
		switch {
		case ctx.Err() != nil:
			if call != nil {
				call.Close()
			}
			return ended(ctx, "nobody has connected to "+hidden(name))
		case err != nil:
			return &class.Error{Class: class.Port, Text: err.Error(), Cause: err}
		}
		m.stream = call
		attending, turn := context.WithCancel(ctx)
		go p.Crowded(attending, answerWithin, turn)
		stop := call.Interrupt(attending)
		err = m.offer()
		stop()
		turn()
		if err == nil {
			return nil
		}
		call.Close() // the client has died, or given up: the next one may be alive
		switch {
		case m.fatal != nil:
			return m.fatal
		case ctx.Err() != nil:
			return ended(ctx, "a client of "+hidden(name)+" has not answered")
		}
	}
}

// connect is the part of the root of Connect until it knows the other group.
func (m *meeting) connect(ctx context.Context, name string) error {
	addr, secret, err := parseName(name)
	if err != nil {
		return err
	}
	f, err := m.e.far()
	if err != nil {
		return &class.Error{Class: class.Other, Text: err.Error(), Cause: err}
	}
	defer m.e.Waiting("Connect to " + hidden(name))()
	call, err := f.CallPort(ctx, addr, secret)
	switch {
	case ctx.Err() != nil:
		if call != nil {
			call.Close()
		}
		return ended(ctx, "nobody has accepted at "+hidden(name))
	case err != nil:
		return class.Errorf(class.Port, "%s: %w", hidden(name), err)
	}
	m.stream = call
	defer call.Interrupt(ctx)()
	err = m.hello()
	if err == nil {
		err = m.receive()
	}
	if err == nil {
		err = m.answer()
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ended(ctx, "nobody has accepted at "+hidden(name))
	}
	return class.Errorf(class.Port, "%s: the port was closed, or the process that serves it has ended, before it accepted: %w", hidden(name), err)
}

// Crosses reports whether a communicator has members of other jobs.
func (e *Engine) Crosses(c *comm.Comm) bool {
	return e.p.Met() && e.p.Foreign(c.Whole().Members) >= 0
}

// Link records a communicator, if it has members of other jobs: until it is disconnected, the world
// model or session that it belongs to ends only together with those of all its members.
func (e *Engine) Link(c *comm.Comm) {
	if e.Crosses(c) {
		e.mu.Lock()
		e.links[c] = true
		e.mu.Unlock()
	}
}

// Unlink waits until all members of a linked communicator are about to disconnect it. Free of the
// communicator follows. It does nothing for other communicators.
func (e *Engine) Unlink(c *comm.Comm) {
	e.mu.Lock()
	linked := e.links[c]
	delete(e.links, c)
	e.mu.Unlock()
	if linked {
		e.colls.Close([]*comm.Comm{c}, call.CommDisconnect)
	}
}

// Keep keeps the members of a linked communicator that is freed, and not disconnected, from being left.
func (e *Engine) Keep(c *comm.Comm) {
	if e.Crosses(c) {
		e.p.Lock()
		e.p.Hold(c.Whole().Members)
		e.p.Unlock()
	}
}

// Finish waits until all members of the linked communicators of a session, 0 for the world model, are
// about to end it, or have ended.
func (e *Engine) Finish(session uint64) {
	name := call.Finalize
	if session != 0 {
		name = call.SessionFinalize
	}
	var all []*comm.Comm
	e.mu.Lock()
	for c := range e.links {
		if c.Session == session {
			all = append(all, c)
			delete(e.links, c)
		}
	}
	e.mu.Unlock()
	if len(all) > 0 {
		e.colls.Close(all, name)
	}
}
