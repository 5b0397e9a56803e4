package mpi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/world"
)

// Session is a use of MPI that depends on no other one: a library opens one for itself, whether
// the program has called Init or not. A session names sets of processes (Psets), a set gives a
// Group, and CommFromGroup makes a communicator of a group. All of its communicators, windows and files
// belong to it, as do the groups, and no call takes objects of two sessions, or of a session and
// the world model of Init: ErrSession. Datatypes, operations, attribute keys, Infos and error
// handlers belong to the process, and can be used with every session.
//
// OpenSession, and everything but the calls that make communicators, is local: other processes
// need not have begun to use MPI.
//
// C: MPI_Session, section 11.3.
type Session struct {
	self   *Comm // stands for the session in what takes a communicator: errors, handlers, buffers
	strict bool
	kinds  string // memory allocation kinds
	thread string // the value of thread_level
	ended  atomic.Bool

	mu      sync.Mutex
	comms   map[*Comm]*comm.Comm // that are not freed, with the one that each descends from
	roots   []*comm.Comm         // those made of groups, and others whose root was disconnected; freed ones, too
	windows map[*Window]bool     // that are not freed
	files   map[*File]bool       // that are not closed
	left    map[uint64]bool      // contexts of communicators that were freed while requests on them were active
	prune   int                  // when left is as long as this, contexts without active requests are removed
}

// SessionHint is a hint for OpenSession: StrictFinalize, MemoryAllocKinds, or an *Info with their
// keys.
//
// C: MPI_Info, section 11.3.1.
type SessionHint interface{ sessionHint(s *Session) }

// StrictFinalize makes Finalize of a session fail while communicators or windows of the session
// are not freed: ErrPending. The default is false: they end with the session.
//
// C: info key strict_finalize, section 11.3.1.
type StrictFinalize bool

func (v StrictFinalize) sessionHint(s *Session) { s.strict = bool(v) }

// sessionHint applies the keys of the Info that are known for sessions.
func (i *Info) sessionHint(s *Session) {
	v, _ := i.Get(keyStrictFinalize)
	if b, ok := boolean(v); ok {
		s.strict = b
	}
	if v, found := i.Get(keyAllocKinds); found {
		MemoryAllocKinds(v).sessionHint(s)
	}
	if v, found := i.Get(keyThreadLevel); found {
		s.thread = v
	}
}

const (
	keyStrictFinalize = "strict_finalize"
	keyThreadLevel    = "thread_level"
)

// OpenSession opens a session of this process. It may be called at any time, repeatedly, by any
// goroutine: before Init, after Finalize, and while other sessions are open. It does not wait for
// other processes, and does not change what Initialized reports.
//
// h gets the errors of OpenSession and those that concern the session; its communicators have
// handlers of their own. ErrErrhandler if it is null, or was made for other objects. An Info may
// request a level of thread support by the key thread_level: ErrInfoValue if there is none with
// that name. The level is always MPI_THREAD_MULTIPLE.
//
// C: MPI_Session_init, section 11.3.1.
func OpenSession(h Errhandler, hints ...SessionHint) (*Session, error) {
	s, err := newSession(h, hints)
	if s == nil {
		return nil, err.raised()
	}
	current.mu.Lock()
	if err == nil {
		err = checkInitialErrhandler(call.SessionInit)
	}
	if err == nil {
		if failed := current.open(false); failed != nil {
			err = newError(ErrOther, call.SessionInit, nil, "%v", failed)
			err.cause = failed
		}
	}
	w, e := current.w, current.engine
	current.mu.Unlock()
	if err != nil {
		return nil, h.raise(nil, err)
	}
	return s.open(w, e, h, hints)
}

// newSession returns a session with hints that is not open, and the error in them. It returns no
// session if the handler does not fit.
func newSession(h Errhandler, hints []SessionHint) (*Session, *Error) {
	if err := h.fits(call.SessionInit, aSession); err != nil {
		return nil, err
	}
	s := &Session{comms: map[*Comm]*comm.Comm{}, windows: map[*Window]bool{}, files: map[*File]bool{}, kinds: defaultKinds}
	for _, h := range hints {
		if h != nil {
			h.sessionHint(s)
		}
	}
	switch s.thread {
	case "", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE":
		return s, nil
	}
	return s, newError(ErrInfoValue, call.SessionInit, nil, "%s is %q, want MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE", keyThreadLevel, s.thread)
}

// openSession opens a session of the process of w.
func openSession(w *world.World, e *engine, h Errhandler, hints []SessionHint) (*Session, error) {
	s, err := newSession(h, hints)
	switch {
	case s == nil:
		return nil, err.raised()
	case err != nil:
		return nil, h.raise(nil, err)
	}
	return s.open(w, e, h, hints)
}

// open opens the session in the process of w.
func (s *Session) open(w *world.World, e *engine, h Errhandler, hints []SessionHint) (*Session, error) {
	name := fmt.Sprintf("session %d", e.opened.Add(1))
	s.self = &Comm{w: w, core: w.Self.Unnamed(), fixed: true}
	s.self.self = s.self
	s.self.own = &own{engine: e, session: s, kinds: s.kinds}
	s.self.core.Name.Store(&name)
	s.self.handler.Store(h.h)
	w.Proc.Lock()
	_, s.self.core.Session = w.Proc.NewContext(true)
	w.Proc.Unlock()
	checkKeys(s.self, call.SessionInit, hints...)
	if err := w.Use(); err != nil {
		return nil, wrap(err, call.SessionInit, s.self, Undefined, Undefined)
	}
	return s, nil
}

// fits returns an error, which is not raised, unless the handler can be that of an object of a
// kind.
func (h Errhandler) fits(k call.Number, of object) *Error {
	switch {
	case h.h == nil:
		return newError(ErrErrhandler, k, nil, "error handler is null")
	case h.h.only != "" && h.h.only != of:
		return newError(ErrErrhandler, k, nil, "error handler was made for a %s, not for a %s", h.h.only, of)
	}
	return nil
}

// raise calls the handler with an error of a call that was to make an object with that handler.
// There is no such object; predefined handlers get self.
func (h Errhandler) raise(self *Comm, e *Error) error {
	if e.told {
		return e
	}
	e.renamed()
	switch {
	case h.h.call == nil:
	case h.h.only == "":
		h.h.call(self, e)
	default:
		h.h.call(nil, e)
	}
	return e
}

// over reports whether s, which may be nil, has been finalized.
func (s *Session) over() bool { return s != nil && s.ended.Load() }

// usable returns the error of a call on s if s cannot be used, else nil.
func (s *Session) usable(k call.Number) *Error {
	switch {
	case s == nil:
		return fail(ErrSession, k, nil, "session is nil")
	case s.ended.Load():
		return fail(ErrSession, k, s.self, "session has been finalized")
	}
	return nil
}

// Name names the session in errors: it has a number of this process.
//
// C: none; errors of a session name it.
func (s *Session) Name() string { return s.self.Name() }

// add records a communicator that was made from c, nil if from a group.
func (s *Session) add(d, c *Comm) {
	d.core.Session = s.self.core.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	root := s.comms[c]
	switch crosses := d.w.Meet.Crosses(d.core); {
	case crosses: // package meet waits for its members
		root = d.core
	case root == nil || d.w.Meet.Crosses(root):
		root = d.core
		s.roots = append(s.roots, root)
	}
	s.comms[d] = root
}

// remove forgets a communicator that was freed, or disconnected. While a process has a
// communicator, or has only freed it, other members may be in collectives that need the process
// although its own part is done: so it must not end. Finalize waits for them, and so does
// Disconnect, after which Finalize need not. Those of a communicator cover the communicators that
// were made from it.
func (s *Session) remove(c *Comm, disconnected bool) {
	ctx := c.core.Ctx
	active := !disconnected && !planted.FreedForgotten && s.active(ctx)
	s.mu.Lock()
	if active {
		if len(s.left) >= s.prune {
			maps.DeleteFunc(s.left, func(ctx uint64, _ bool) bool { return !s.active(ctx) })
			s.prune = 2*len(s.left) + 8
		}
		if s.left == nil {
			s.left = make(map[uint64]bool)
		}
		s.left[ctx] = true
	}
	root := s.comms[c]
	delete(s.comms, c)
	if !disconnected || root != c.core || c.w.Meet.Crosses(root) {
		s.mu.Unlock()
		return
	}
	s.roots = slices.DeleteFunc(s.roots, func(r *comm.Comm) bool { return r == root })
	for d, of := range s.comms {
		if of == root {
			s.comms[d] = d.core
			s.roots = append(s.roots, d.core)
		}
	}
	s.mu.Unlock()
	c.w.Coll.Close([]*comm.Comm{root}, call.CommDisconnect)
}

// active reports whether requests on a communicator are active, given its context.
func (s *Session) active(ctx uint64) bool {
	only := func(of uint64) bool { return of/proc.ContextStep == ctx/proc.ContextStep }
	return cmp.Or(s.self.w.Pending(only), s.self.w.Coll.Pending(only)) != nil
}

func (s *Session) addWindow(w *Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows[w] = true
}

func (s *Session) removeWindow(w *Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.windows, w)
}

func (s *Session) addFile(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[f] = true
}

func (s *Session) removeFile(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, f)
}

// openFile returns an error, which is not raised, if a file of the session is open: other members may be in
// calls on it that need this process.
func (s *Session) openFile() *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.files {
		return stillOpen(f, s.self)
	}
	return nil
}

// Finalize ends the session; its communicators and windows cannot be used any more. It may wait
// until the other members of its communicators do the same, or have disconnected these. Other
// sessions and the world model go on. A session can be opened again.
//
// All operations of the session must be complete: ErrPending, without any effect, if there are
// active requests, if a file is open, or, with StrictFinalize, if communicators or windows are not freed;
// ErrRMASync if an epoch of a window is open.
//
// C: MPI_Session_finalize, section 11.3.1.
func (s *Session) Finalize() error {
	const k = call.Finalize
	if err := s.usable(k); err != nil {
		return err
	}
	w := s.self.w
	own := s.contexts()
	if err := cmp.Or(w.Pending(own), w.Coll.Pending(own)); err != nil {
		s.self.reportLeftovers(true)
		return wrap(err, k, s.self, Undefined, Undefined)
	}
	if err := cmp.Or(s.openFile(), s.openEpoch()); err != nil {
		return err.raised()
	}
	s.mu.Lock()
	comms, windows, roots := len(s.comms), len(s.windows), slices.Clone(s.roots)
	s.mu.Unlock()
	if s.strict && comms+windows > 0 {
		return fail(ErrPending, k, s.self, "%d communicators and %d windows are not freed, and %s is true", comms, windows, keyStrictFinalize)
	}
	if !s.ended.CompareAndSwap(false, true) { // by another goroutine
		return fail(ErrSession, k, s.self, "session has been finalized")
	}
	s.self.reportLeftovers(false)
	if !planted.SessionLeavesAtOnce {
		w.Meet.Finish(s.self.core.Session)
		w.Coll.Close(roots, call.SessionFinalize)
	}
	_, _ = w.P2P.Detach(s.self.core.Session) // an error only means that no buffer is attached
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.comms {
		c.freed.Store(true)
		w.Coll.Free(c.core)
	}
	for win := range s.windows {
		win.c.freed.Store(true)
	}
	s.comms, s.windows, s.roots = nil, nil, nil
	if err := w.Leave(); err != nil {
		return wrap(err, k, s.self, Undefined, Undefined)
	}
	return nil
}

// openEpoch returns an error, which is not raised, if an epoch of a window of the session is open. If
// the session ended then, another member might wait for a lock that this process holds, and this
// process for the other one.
func (s *Session) openEpoch() *Error {
	s.mu.Lock()
	windows := slices.Collect(maps.Keys(s.windows))
	s.mu.Unlock()
	for _, w := range windows {
		err := w.v.Idle()
		if err == nil || w.c.freed.Load() {
			continue
		}
		if w.checks() {
			err = w.v.Checker().Open(err)
		}
		e := describe(err, call.Finalize, s.self, Undefined, Undefined)
		e.Detail = strings.TrimSuffix("window "+w.Name(), " ") + ": " + e.Detail
		return e
	}
	return nil
}

// contexts selects the contexts of the session's communicators, also of those that were freed while requests were active.
func (s *Session) contexts() func(ctx uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := make(map[uint64]bool, len(s.comms)+len(s.left))
	maps.Copy(own, s.left)
	for c := range s.comms {
		own[c.core.Ctx] = true
	}
	return func(ctx uint64) bool { return own[ctx/proc.ContextStep*proc.ContextStep] }
}

// Info returns the hints of the session, with the values that are in use: strict_finalize,
// thread_level and mpi_memory_alloc_kinds.
//
// C: MPI_Session_get_info, section 11.3.1.
func (s *Session) Info() (*Info, error) {
	if err := s.usable(call.SessionGetInfo); err != nil {
		return nil, err
	}
	strict := "false"
	if s.strict {
		strict = "true"
	}
	return infoOf(keyStrictFinalize, strict, keyThreadLevel, "MPI_THREAD_MULTIPLE", keyAllocKinds, s.self.kinds), nil
}

// infoOf makes an Info of keys, each followed by its value.
func infoOf(list ...string) *Info {
	i := NewInfo()
	for k := 0; k < len(list); k += 2 {
		i.keys = append(i.keys, list[k])
		i.values[list[k]] = list[k+1]
	}
	return i
}
