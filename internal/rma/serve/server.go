package serve

import (
	"slices"

	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/wire"
)

// Host is the owner of a Server. The lock of the process is held when the Server calls it.
type Host interface {
	// Window returns a window that exists here, nil if none has the id.
	Window(id uint64) *Window
	// Ended says that a process has ended access epochs of Start, and with unlock gives the lock of this process back. It
	// returns false if no correct process does so.
	Ended(w *Window, from, epochs int, unlock bool) bool
	// Count adds 1 to a counter of this process.
	Count(w *Window, counter int)
}

// Server serves the frames of other processes to the memory of this one. The lock of the process guards all of it, and is
// held in all calls.
type Server struct {
	p    *proc.Proc
	link *link.Link // refuses peers, and has pages
	host Host

	peers     peers.Table[peer]
	answering []int       // peers with gets that are being answered
	hdr       wire.Header // scratch: headers handed to a fabric must not escape
	iov       [1][]byte   // scratch: memory handed to a fabric
	pieces    []block     // scratch
	free      []*reply    // for reuse
}

// peer is the state of what a process has asked for.
type peer struct {
	asked   int          // requests whose answer is not sent
	gets    []pendingGet // among them those that are answered in pieces; from next on
	next    int
	piece   bool // a frame of those is in the send queue
	telling bool // a fault of an operation without a request is in the send queue
}

// New returns the server of a process.
func New(p *proc.Proc, l *link.Link, host Host) *Server {
	return &Server{p: p, link: l, host: host, peers: peers.Make[peer](p.Known(), nil)}
}

// Frame takes a frame of a member to a window: an operation, an announcement, a flush, or the end of an epoch. It returns
// false if it is to be refused, and has not been.
func (s *Server) Frame(from int, w *Window, h *wire.Header, payload []byte) bool {
	switch h.Kind {
	case wire.WinPut:
		if !s.spanned(from, w, h) {
			s.takePut(from, w, h, payload)
		}
		return s.then(from, w, h)
	case wire.WinAcc:
		if !s.spanned(from, w, h) {
			s.takeAccumulate(from, w, h, payload)
		}
		return s.then(from, w, h)
	case wire.WinCas:
		s.takeCompare(from, w, h, payload)
		return s.then(from, w, h)
	case wire.WinGet:
		s.takeGet(from, w, h, payload)
	case wire.WinFlush:
		s.answerFlush(from, w, h.Chan, h.Arg)
	case wire.WinUnlock:
		return s.ends(from, w, ending{unlock: true, tells: h.Flags&wire.Answer != 0, at: h.Arg})
	case wire.WinComplete:
		return s.ends(from, w, ending{complete: 1})
	case wire.WinSpan:
		s.takeSpan(from, w, h, payload)
	}
	return true
}

// Work sends more of the answers to gets of peers.
func (s *Server) Work() int {
	if len(s.answering) == 0 {
		return 0
	}
	return s.answerGets()
}

// Lost drops what a process that has died has asked for.
func (s *Server) Lost(process int) {
	q := s.peers.At(process)
	if i := slices.Index(s.answering, process); i >= 0 {
		s.answering = slices.Delete(s.answering, i, i+1)
		s.p.SetBusy(-1)
	}
	*q = peer{gets: q.gets[:0]}
}

// Forget drops the state of a process that has died.
func (s *Server) Forget(process int) { s.peers.Forget(process) }

// runsIn is the number of runs in front of a payload.
func runsIn(h *wire.Header) int {
	if h.Flags&wire.ThenNotify != 0 {
		return h.Runs()
	}
	return int(h.Tag)
}

// State is what a server keeps of a process, for tests of its owner.
type State struct {
	Asked     int  // requests whose answer is not sent
	Gets      int  // among them those that are answered in pieces
	Sending   bool // a piece of a get, or a fault, is in the send queue
	Answering int  // processes with gets that are being answered
}

// State returns what s keeps of a process.
func (s *Server) State(process int) State {
	q := s.peers.At(process)
	return State{q.asked, len(q.gets) - q.next, q.piece || q.telling, len(s.answering)}
}
