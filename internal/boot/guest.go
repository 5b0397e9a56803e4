package boot

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// Guests is the Host of a server to which processes connect by themselves.
type Guests interface {
	Host
	// Join is called when the process of a session says that it is rank, which is one of the server's,
	// and whether it uses MPI. An error refuses it, and tells it why.
	Join(rank int, used bool, c *Session) error
	// Given is called when a process has a segment from the server before this one. The host owns f.
	Given(which int, f *os.File)
}

// Guest makes a session over link for process pid, which tells its rank itself. The host of the server is
// a Guests.
func (s *Server) Guest(link *sys.Link, pid int) *Session {
	c := s.Session(-1, link)
	c.guest = pid
	return c
}

// Pid returns the process of a session of Guest.
func (c *Session) Pid() int { return c.guest }

// PeerEnded reports whether the process of Pid is known to have ended.
func (c *Session) PeerEnded() bool { return c.link.PeerEnded() }

// Rank returns the rank of the process, or -1 if it has not told it.
func (c *Session) Rank() int { return c.rank }

// maxGiven bounds the segments that a process may have: those of all processes of its node, their bells
// and two of the node.
func (s *Server) maxGiven() int { return 2*len(s.index) + 2 }

// join reads what a guest says before its Hello.
func (c *Session) join(r *linkReader) error {
	host := c.server.host.(Guests)
	for range c.server.maxGiven() + 1 {
		k, body, err := r.Next()
		if err != nil {
			return err
		}
		b := frame.Body{Left: body}
		n, used := int(int32(b.U32())), k == kindJoin && b.U8() != 0
		if !b.Done() {
			return fmt.Errorf("boot: frame of kind %d with %d bytes before a process has told its rank", k, len(body))
		}
		switch k {
		case kindGive:
			f := r.file()
			if f == nil {
				return fmt.Errorf("boot: segment %d without a descriptor", n)
			}
			host.Given(n, f)
		case kindJoin:
			err := fmt.Errorf("rank %d is none of the %d ranks of this node", n, len(c.server.index))
			if _, ok := c.server.index[n]; ok {
				c.rank = n
				err = host.Join(n, used, c)
			}
			if err != nil {
				c.rank = -1
				c.refuse(r, err.Error())
			}
			return err
		default:
			return fmt.Errorf("boot: frame of kind %d before a process has told its rank", k)
		}
	}
	return fmt.Errorf("boot: a process has more than %d segments", c.server.maxGiven())
}

// refusedTimeout bounds the time that a process which is refused has to read why.
const refusedTimeout = time.Second

// refuse tells the process why it is refused, and reads until it disconnects. If the connection was closed with
// frames that were not read, the process might be told that it is broken, and nothing else.
func (c *Session) refuse(r *linkReader, why string) {
	c.write(frame.New(kindRefused).Rest(why).Bytes(), nil)
	limit := time.AfterFunc(refusedTimeout, c.link.Expire)
	defer limit.Stop()
	for {
		if _, _, err := r.Next(); err != nil {
			return
		}
	}
}

// Leave tells the process whether the one that serves it may end, and which other ranks are connected.
func (c *Session) Leave(may bool, ranks []int) {
	w := frame.New(kindLeave).U8(flag(may))
	for _, r := range ranks {
		w.U32(uint32(r))
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.owed != nil && c.owed.complete() { // the process that serves may end before it would write the values
		c.settle()
	}
	c.link.Write(w.Bytes(), nil)
}

// Fail makes every Exchange fail with an error, from now on.
func (s *Server) Fail(err error) { s.table.stop(err) }

// leaving is what a process knows of the one that serves it.
type leaving struct {
	over atomic.Bool // Over has arrived; stored by the reader before it closes lost

	mu    sync.Mutex
	may   bool
	ranks []int
}

// take handles the body of a Leave.
func (l *leaving) take(body []byte) {
	b := frame.Body{Left: body}
	may := b.U8() != 0
	var ranks []int
	for len(b.Left) > 0 && !b.Bad {
		ranks = append(ranks, int(b.U32()))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.may, l.ranks = may, ranks
}

// A Guest is the connection of a process to the one that serves its node.
type Guest struct{ *launched }

// Join connects to the process at the other end of link, which serves the node of rank. used says whether
// this process uses MPI. given are segments that it has from the process that served the node before; it
// keeps them.
func Join(link *sys.Link, rank int, inC, world, used bool, given map[int]*os.File) (*Guest, error) {
	return join(link, rank, greeting{ownVersions(), Build(), inC, world}, used, given, 0)
}

// join is Join with a limit to the wait for an answer, unless that is 0.
func join(link *sys.Link, rank int, own greeting, used bool, given map[int]*os.File, limit time.Duration) (*Guest, error) {
	var which []int
	for n := range given {
		if planted.SegmentKept {
			break
		}
		which = append(which, n)
	}
	slices.Sort(which)
	for _, n := range which {
		if err := link.Write(frame.New(kindGive).U32(uint32(int32(n))).Bytes(), given[n]); err != nil {
			return nil, fmt.Errorf("boot: rank %d: %w", rank, err)
		}
	}
	if err := link.Write(frame.New(kindJoin).U32(uint32(rank)).U8(flag(used)).Bytes(), nil); err != nil {
		return nil, fmt.Errorf("boot: rank %d: %w", rank, err)
	}
	if limit == 0 {
		c, err := dial(link, own)
		return &Guest{c}, err
	}
	c, err := dialFor(link, own, limit)
	return &Guest{c}, err
}

// Left tells how the process at the other end stood when the connection ended: over says that it has
// reported the end of the job; may that it had no use for MPI any more, and so could end, and ranks
// which were connected to it then.
func (g *Guest) Left() (over, may bool, ranks []int) {
	g.leaving.mu.Lock()
	defer g.leaving.mu.Unlock()
	return g.leaving.over.Load(), g.leaving.may, g.leaving.ranks
}

// TellAbort is Abort without the end of this process.
func (g *Guest) TellAbort(code int, reason string) error {
	return g.write(frame.New(kindAbort).U32(uint32(int32(code))).Rest(reason).Bytes())
}

// Close ends the connection.
func (g *Guest) Close() error { return g.link.Close() }
