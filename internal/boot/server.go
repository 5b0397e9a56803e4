package boot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/sys"
)

// A Host is what a launcher does for the processes it started. Its methods may
// be called for several ranks at once.
type Host interface {
	// Hello is called when rank joins the job; inC says whether the program uses the C names
	// of calls, world whether it calls Init of the world model. It returns the description of
	// the job.
	Hello(rank int, inC, world bool) (*Job, error)
	// Init is called when rank, which had only opened a session, calls Init.
	Init(rank int)
	// InUse is called when rank uses MPI again, or may end from now on.
	InUse(rank int, used bool)
	// Published is called with the value of rank.
	Published(rank int, value []byte)
	// Lookup is called when rank wants the value of another process: Session.Found tells it.
	Lookup(rank, of int)
	// Segment returns memory of this node. The host keeps the ownership of the file.
	Segment(which int) (*os.File, error)
	// Exchanged is called when all processes of this server have entered an Exchange, with
	// their values in the order of the ranks. Deliver ends the Exchange.
	Exchanged(values [][]byte)
	// Finalized is called when rank may end from now on.
	Finalized(rank int)
	// Aborted is called when rank aborts the job.
	Aborted(rank, code int, reason string)
}

// A VersionError says that launcher and program were built from incompatible versions
// of Halo.
type VersionError struct{ program, launcher greeting }

// Error names both versions and tells the user to build both from the same one.
func (e *VersionError) Error() string {
	program := e.program.build
	if program == "" {
		program = "of unknown version"
	}
	return fmt.Sprintf("the program and the launcher come from different versions of Halo "+
		"(program: %s, %v; launcher: %s, %v): build both from the same version",
		program, e.program.versions, e.launcher.build, e.launcher.versions)
}

// A Server is the launcher's side of all links to the processes of one host.
type Server struct {
	Plain Plain // serves processes that send lines of text; nil: they are refused

	host  Host
	index map[int]int // index of each rank among the ranks of the host
	table *table
}

// NewServer makes the server for the processes with these ranks, in ascending order.
func NewServer(ranks []int, host Host) *Server {
	s := &Server{host: host, index: map[int]int{}, table: newTable(len(ranks))}
	for i, r := range ranks {
		s.index[r] = i
	}
	s.table.up = host.Exchanged
	return s
}

// Deliver ends an Exchange that Exchanged has reported: table, from EncodeTable, contains the
// values of all processes of the job.
func (s *Server) Deliver(table []byte) { s.table.deliver(table) }

// Finalized makes every Exchange fail, because rank, which may be on another
// host, will never enter it.
func (s *Server) Finalized(rank int) { s.table.stop(finalized(rank)) }

// Stop makes every Exchange fail: the job is over.
func (s *Server) Stop() { s.table.stop(ErrOver) }

// A Session is the launcher's side of one link.
type Session struct {
	server  *Server
	rank    int
	link    *sys.Link
	gone    chan struct{} // closed when the process has ended
	writing sync.Mutex    // guards Link.Write, owed, plain, greeted and passed
	owed    *round        // the round that the process has entered, until its answer is written
	guest   int           // the process, if it tells its rank itself, else 0
	plain   bool          // the process sends lines of text: only Write writes to it
	greeted bool          // Hello has been received
	passed  bool          // another session has taken the place of this one
}

// Session makes the session of rank over link.
func (s *Server) Session(rank int, link *sys.Link) *Session {
	return &Session{server: s, rank: rank, link: link, gone: make(chan struct{})}
}

// Over tells the process that the job has ended. If the process waits for the values of a complete
// Exchange, Over writes these first: another process may have received them already, and have ended
// the job. Over blocks as long as the process lives and does not read.
func (c *Session) Over(reason string) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.plain {
		return // signals tell it
	}
	if c.owed != nil && c.owed.complete() {
		c.settle()
	}
	c.link.Write(frame.New(kindOver).Rest(reason).Bytes(), nil)
}

// settle writes the values that the process waits for. The caller holds writing.
func (c *Session) settle() {
	c.link.Write(c.owed.frame, nil)
	c.owed = nil
}

// Ended is called once, when the process has ended. Serve then returns as soon as it has read
// all frames of the process, although another process that inherited the link may keep it open.
func (c *Session) Ended() {
	close(c.gone)
	c.link.Expire()
}

// Close ends the link.
func (c *Session) Close() error { return c.link.Close() }

func (c *Session) write(frame []byte, file *os.File) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.link.Write(frame, file)
}

// Serve answers the requests of the process until the process closes the link, and then
// returns nil. A process that sends lines of text is served by Server.Plain. A *VersionError means
// that the versions differ; any other error means that the host has refused the process, or that the
// process violates the protocol.
func (c *Session) Serve() error {
	r := newLinkReader(c.link, maxRequest)
	defer func() {
		for _, f := range r.files {
			f.Close()
		}
	}()
	if c.guest != 0 {
		if err := c.join(r); err != nil {
			return ended(err)
		}
	} else {
		whole, plain, err := c.start(r)
		if err != nil {
			return ended(err)
		}
		if plain && c.server.Plain != nil {
			return c.servePlain(whole)
		}
		r.Source = whole
	}
	k, body, err := r.Next()
	if err != nil {
		return ended(err)
	}
	if k != kindHello {
		return fmt.Errorf("boot: frame of kind %d instead of a greeting", k)
	}
	if err := c.hello(body); err != nil {
		return ended(err)
	}
	r.Limit = maxSpawn
	final := false
	for {
		k, body, err := r.Next()
		if err != nil {
			return ended(err)
		}
		if final && k == kindHello {
			text := fmt.Sprintf("an earlier program of rank %d has already been in this job and left it: "+
				"one program with mpi.Init per rank", c.rank)
			if g, _ := decodeHello(body); g.inC {
				text = cname.Text(text, false)
			}
			c.write(frame.New(kindRefused).Rest(text).Bytes(), nil)
			return errors.New("boot: " + text)
		}
		switch k {
		case kindExchange:
			err = c.exchange(body)
		case kindSegment:
			err = c.segment(body)
		case kindSpawn, kindGiveUp:
			err = c.spawn(k, body)
		case kindRing:
			err = c.ring(body)
		case kindInit:
			c.server.host.Init(c.rank)
		case kindInUse:
			b := frame.Body{Left: body}
			used := b.U8() != 0
			final = !used
			c.server.host.InUse(c.rank, used)
		case kindPublish:
			if len(body) > MaxValue {
				return fmt.Errorf("boot: %d bytes to publish, the limit is %d", len(body), MaxValue)
			}
			c.server.host.Published(c.rank, append([]byte(nil), body...))
		case kindLookup:
			var of int
			of, err = number("lookup", body)
			if err == nil {
				c.server.host.Lookup(c.rank, of)
			}
		case kindFinalize:
			final = true
			c.server.Finalized(c.rank)
			c.server.host.Finalized(c.rank)
		case kindAbort:
			b := frame.Body{Left: body}
			code := int(int32(b.U32()))
			c.server.host.Aborted(c.rank, code, string(b.Left[:min(len(b.Left), frame.MaxText)]))
		default:
			err = fmt.Errorf("boot: frame of kind %d", k)
		}
		if err != nil {
			return err
		}
	}
}

// ended returns nil for the errors by which a link ends normally.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) || sys.LinkReset(err) {
		return nil
	}
	return err
}

// Found tells the process what another one has published, or, if why is not empty, why that
// publishes nothing. Like Over it blocks as long as the process lives and does not read.
func (c *Session) Found(of int, value []byte, why string) {
	w := frame.New(kindFound).U32(uint32(of))
	if why == "" {
		w.U8(1).Raw(value)
	} else {
		w.U8(0).Rest(why)
	}
	c.write(w.Bytes(), nil)
}

// PassOn says that the process of the rank uses another link. It reports whether the process has not used
// this one: then the session ends.
func (c *Session) PassOn() bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.greeted || c.plain {
		return false
	}
	c.passed = true
	c.link.Expire()
	return true
}

// begin notes that the process uses this link, unless the session has been passed on.
func (c *Session) begin(plain bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.passed {
		return io.EOF
	}
	c.greeted, c.plain = true, plain
	return nil
}

func (c *Session) hello(body []byte) error {
	if err := c.begin(false); err != nil {
		return err
	}
	own := greeting{versions: ownVersions(), build: Build()}
	g, err := decodeHello(body)
	if err == nil && g.versions != own.versions {
		err = &VersionError{g, own}
	}
	var job *Job
	if err == nil {
		job, err = c.server.host.Hello(c.rank, g.inC, g.world)
	}
	if err != nil {
		c.write(frame.New(kindRefused).Rest(err.Error()).Bytes(), nil)
		return err
	}
	c.write(job.encode(), nil) // an error shows as the end of the stream
	return nil
}

// enter adds the value of the process to the current round and sets owed. It holds writing, so
// that Over sees owed as soon as the others can complete the round.
func (c *Session) enter(value []byte) (*round, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	r, err := c.server.table.enter(c.server.index[c.rank], value, MaxValue)
	if err == nil {
		c.owed = r
	}
	return r, err
}

func (c *Session) exchange(body []byte) error {
	t, me := c.server.table, c.server.index[c.rank]
	r, err := c.enter(body)
	if err == nil {
		err = t.wait(r, me, c.gone)
	}
	switch {
	case errors.Is(err, ErrOver): // Over tells the process
		c.oweNothing()
	case err != nil:
		c.oweNothing()
		c.fail(kindExchange, err)
	default:
		c.writing.Lock()
		defer c.writing.Unlock()
		if c.owed != nil { // else Over has written the values
			c.settle()
		}
	}
	return nil
}

func (c *Session) oweNothing() {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.owed = nil
}

func (c *Session) segment(body []byte) error {
	which, err := number("segment", body)
	if err != nil {
		return err
	}
	f, err := c.server.host.Segment(which)
	if err != nil {
		c.fail(kindSegment, err)
	} else {
		c.write(frame.New(kindDescriptor).U32(uint32(int32(which))).Bytes(), f)
	}
	return nil
}

// ring wakes a rank, which may have ended.
func (c *Session) ring(body []byte) error {
	rank, err := number("ring", body)
	if err != nil {
		return err
	}
	f, err := c.server.host.Segment(BellFile(rank))
	if err == nil {
		err = sys.RingBell(f)
	}
	if err != nil {
		return fmt.Errorf("boot: rank %d asks to wake rank %d: %w", c.rank, rank, err)
	}
	return nil
}

// number decodes the body of a request that is a single number.
func number(request string, body []byte) (int, error) {
	r := frame.Body{Left: body}
	n := int(int32(r.U32()))
	if !r.Done() {
		return 0, fmt.Errorf("boot: %s request with a body of %d bytes", request, len(body))
	}
	return n, nil
}

func (c *Session) fail(request uint8, err error) {
	class := failedOther
	if errors.Is(err, errors.ErrUnsupported) {
		class = failedUnsupported
	}
	c.write(frame.New(kindFailed).Raw([]byte{request, class}).Rest(err.Error()).Bytes(), nil)
}
