package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/sys"
)

// launched is a process that Halo's launcher started.
//
// One goroutine reads all frames. A request takes its mutex, writes its frame
// and waits for the answer of its kind, so that Segment works while another
// goroutine is in Exchange.
type launched struct {
	link    *sys.Link
	job     *Job
	writing sync.Mutex // guards Link.Write

	exchange sync.Mutex // one request of a kind at a time
	segment  sync.Mutex
	tables   chan reply
	memories chan reply
	found    board
	leaving  leaving
	spawning spawning

	lost chan struct{} // closed by the reader when nothing more will come
}

// reply is the answer to a request.
type reply struct {
	values [][]byte
	file   *os.File
	err    error
}

// answerTimeout bounds how long a launcher may take to answer Hello. It does so at once, unless it is stopped.
const answerTimeout = time.Minute

// errNoAnswer is the error when the launcher ends the link instead of answering Hello.
var errNoAnswer = errors.New("boot: the launcher gave no answer")

// dialFor is dial, but gives up after some time.
func dialFor(link *sys.Link, own greeting, limit time.Duration) (*launched, error) {
	late := time.AfterFunc(limit, link.Expire)
	l, err := dial(link, own)
	if !late.Stop() && err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("boot: the launcher has not answered for %v: is it stopped?", limit)
	}
	return l, err
}

// dial sends Hello over link and receives the Job.
func dial(link *sys.Link, own greeting) (*launched, error) {
	unsent := link.Write(own.encode(), nil) // the other end may have refused before
	r := newLinkReader(link, maxReply)
	c := &launched{link: link, lost: make(chan struct{}), tables: make(chan reply, 1), memories: make(chan reply, 1)}
	k, body, err := r.Next()
	for ; err == nil && k == kindLeave; k, body, err = r.Next() {
		c.leaving.take(body)
	}
	if err != nil && unsent != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, unsent)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	switch k {
	case kindWelcome:
	case kindRefused:
		return nil, fmt.Errorf("boot: the launcher refused this program: %s", body)
	case kindOver:
		return nil, fmt.Errorf("%w: %s", ErrOver, body)
	default:
		return nil, fmt.Errorf("boot: the launcher answered with a frame of kind %d", k)
	}
	c.job, err = decodeJob(body)
	if err != nil {
		return nil, err
	}
	r.Limit = max(maxTable(c.job.Size), maxSpawned)
	go c.read(r)
	return c, nil
}

// read reads frames until the launcher has ended or reports that the job is over.
func (c *launched) read(r *linkReader) {
	defer c.spawning.lost()
	defer close(c.lost)
	for {
		k, body, err := r.Next()
		if err != nil {
			return
		}
		switch k {
		case kindTable:
			values, err := decodeTable(body, c.job.Size)
			answer(c.tables, reply{values: values, err: err})
		case kindDescriptor:
			file := r.file()
			if file == nil {
				err = errors.New("boot: the launcher sent no descriptor")
			}
			answer(c.memories, reply{file: file, err: err})
		case kindFound:
			b := frame.Body{Left: body}
			rank, ok := int(b.U32()), b.U8()
			if b.Bad || rank >= c.job.Size {
				return
			}
			if ok == 1 {
				c.found.put(rank, b.Left, nil)
			} else {
				c.found.put(rank, nil, errors.New(string(b.Left)))
			}
		case kindFailed:
			if len(body) < 2 {
				return
			}
			err := errors.New(string(body[2:]))
			if body[1] == failedUnsupported {
				err = fmt.Errorf("%s (%w)", body[2:], errors.ErrUnsupported)
			}
			if body[0] == kindExchange {
				answer(c.tables, reply{err: err})
			} else {
				answer(c.memories, reply{err: err})
			}
		case kindLeave:
			c.leaving.take(body)
		case kindSpawned:
			if c.spawning.take(body) != nil {
				return
			}
		case kindOver:
			c.leaving.over.Store(true)
			return
		default: // a frame that no correct launcher sends
			return
		}
	}
}

// answer delivers a reply; a reply without a request is dropped.
func answer(to chan reply, r reply) {
	select {
	case to <- r:
	default:
		if r.file != nil {
			r.file.Close()
		}
	}
}

func (c *launched) write(frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.link.Write(frame, nil); err != nil {
		return fmt.Errorf("%w: %v", ErrOver, err)
	}
	return nil
}

// ask sends a request and waits for its answer.
func (c *launched) ask(frame []byte, from chan reply) reply {
	if err := c.write(frame); err != nil {
		return reply{err: err}
	}
	select {
	case r := <-from:
		return r
	case <-c.lost:
		select { // the answer may have come just before the end
		case r := <-from:
			return r
		default:
			return reply{err: ErrOver}
		}
	}
}

func (c *launched) Job() *Job             { return c.job }
func (c *launched) Lost() <-chan struct{} { return c.lost }

func (c *launched) Exchange(mine []byte) ([][]byte, error) {
	if len(mine) > MaxValue {
		return nil, fmt.Errorf("boot: Exchange of %d bytes, the limit is %d", len(mine), MaxValue)
	}
	c.exchange.Lock()
	defer c.exchange.Unlock()
	r := c.ask(frame.New(kindExchange).Raw(mine).Bytes(), c.tables)
	return r.values, r.err
}

func (c *launched) Segment(rank int) (*os.File, error) {
	c.segment.Lock()
	defer c.segment.Unlock()
	r := c.ask(frame.New(kindSegment).U32(uint32(int32(rank))).Bytes(), c.memories)
	return r.file, r.err
}

func (c *launched) Ring(rank int) error {
	return c.write(frame.New(kindRing).U32(uint32(int32(rank))).Bytes())
}

func (c *launched) Finalize() error { return c.write(frame.New(kindFinalize).Bytes()) }

func (c *launched) Init() error { return c.write(frame.New(kindInit).Bytes()) }

func (c *launched) InUse(used bool) error {
	return c.write(frame.New(kindInUse).U8(flag(used)).Bytes())
}

func (c *launched) Publish(mine []byte) error {
	if len(mine) > MaxValue {
		return fmt.Errorf("boot: %d bytes to publish, the limit is %d", len(mine), MaxValue)
	}
	return c.write(frame.New(kindPublish).Raw(mine).Bytes())
}

func (c *launched) Lookup(ctx context.Context, rank int) ([]byte, error) {
	e, first := c.found.entry(rank)
	if first {
		if err := c.write(frame.New(kindLookup).U32(uint32(rank)).Bytes()); err != nil {
			return nil, err
		}
	}
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.lost:
		return nil, ErrOver
	}
}

// abortTimeout is how long Abort waits for the launcher to end this process before it ends the
// process itself.
const abortTimeout = 5 * time.Second

func (c *launched) Abort(code int, reason string) {
	if c.write(frame.New(kindAbort).U32(uint32(int32(code))).Rest(reason).Bytes()) == nil {
		select {
		case <-c.lost:
		case <-time.After(abortTimeout):
		}
	}
	os.Exit(ExitStatus(code))
}
