package pmix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/planted"
)

// abortTimeout is how long Abort waits for an answer; most servers kill the process first.
const abortTimeout = 5 * time.Second

// The pause between two requests for a value that is not there yet starts at minPause and doubles up to
// maxPause.
const (
	minPause = time.Millisecond
	maxPause = 200 * time.Millisecond
)

// Client is the connection of a process to a PMIx server.
//
// One goroutine reads all messages. A request registers its tag, writes its message and waits for the
// answer, so that requests of several goroutines do not wait for each other.
type Client struct {
	conn  io.ReadWriteCloser
	index uint32 // this process in the server's table of processes
	place Place
	id    engine.Identity
	nodes []int

	writing sync.Mutex // guards writes to conn

	mu      sync.Mutex
	tag     uint32                 // of the last request
	pending map[uint32]chan []byte // by tag: who waits for the answer
	ended   error                  // why the connection has ended; set before lost is closed

	lost chan struct{} // closed by the reading goroutine when nothing more will come
}

var _ engine.PsetClient = (*Client)(nil)

// Open does the handshake over conn, a connection to the server of p, and learns the job. It takes over
// conn.
func Open(conn io.ReadWriteCloser, p Place) (*Client, error) {
	c := &Client{conn: conn, place: p, tag: firstTag, pending: map[uint32]chan []byte{}, lost: make(chan struct{})}
	c.id = engine.Identity{Rank: p.rank, Engine: p.engine}
	late := time.AfterFunc(connectTimeout, func() {
		c.end(fmt.Errorf("%w: no answer in %v", engine.ErrLost, connectTimeout))
	})
	defer late.Stop()
	index, err := shake(conn, p)
	if err != nil {
		c.end(err)
		return nil, c.failed("handshake", c.reason())
	}
	c.index = index
	go c.read()
	if err := c.learn(); err != nil {
		c.end(err)
		<-c.lost
		return nil, c.failed("job data", err)
	}
	return c, nil
}

// end ends the connection, with the reason that requests return from now on.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = err
	}
	c.conn.Close()
}

func (c *Client) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// learn asks for the description of the job.
func (c *Client) learn() error {
	m := c.message()
	m.command(cmdJob)
	answer, err := c.request(context.Background(), m)
	if err != nil {
		return err
	}
	d, err := describe(answer, c.place.nspace, c.place.rank)
	if err != nil {
		return err
	}
	c.id.Job = engine.Printable(c.place.nspace)
	c.id.Size, c.id.Universe, c.id.AppNum = d.size, d.universe, d.appnum
	c.nodes = d.nodes
	return nil
}

// failed returns err with the engine, the request and the rank.
func (c *Client) failed(request string, err error) error {
	return fmt.Errorf("pmix: %s: %s of rank %d: %w", c.id.Engine, request, c.id.Rank, err)
}

// read reads messages until the connection ends.
func (c *Client) read() {
	defer close(c.lost)
	for {
		tag, body, err := unpack(c.conn)
		if err != nil {
			c.end(ending(err))
			return
		}
		c.mu.Lock()
		to := c.pending[tag]
		delete(c.pending, tag)
		c.mu.Unlock()
		if to != nil {
			to <- body
		}
	}
}

// request sends a request and returns its answer. If ctx ends first the answer will be dropped.
func (c *Client) request(ctx context.Context, m buffer) (answer []byte, err error) {
	c.mu.Lock()
	if ended := c.ended; ended != nil {
		c.mu.Unlock()
		return nil, ended
	}
	c.tag = max(c.tag+1, firstTag)
	tag, to := c.tag, make(chan []byte, 1)
	c.pending[tag] = to
	c.mu.Unlock()

	c.writing.Lock()
	_, err = c.conn.Write(pack(c.index, tag, m.b))
	c.writing.Unlock()
	if err != nil {
		return nil, ending(err)
	}
	select {
	case answer = <-to:
		return answer, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.lost:
		select { // the answer may have come just before the end
		case answer = <-to:
			return answer, nil
		default:
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, tag)
	if err == nil {
		err = c.ended
	}
	return nil, err
}

// message returns an empty message.
func (c *Client) message() buffer { return buffer{compact: c.place.compact} }

// ask sends a request whose answer begins with a status. It returns the status, success in place of
// succeeded, and a reader of the rest of the answer.
func (c *Client) ask(ctx context.Context, m buffer) (status, *reader, error) {
	answer, err := c.request(ctx, m)
	if err != nil {
		return 0, nil, err
	}
	r := newReader(answer)
	s := r.status()
	if s == succeeded {
		s = success
	}
	return s, r, r.err
}

// do sends a request of whose answer only the status matters. what names the request in errors.
func (c *Client) do(what string, m buffer) error {
	s, _, err := c.ask(context.Background(), m)
	if err == nil && s != success {
		err = fmt.Errorf("the server answers with %v", s)
	}
	if err != nil {
		return c.failed(what, err)
	}
	return nil
}

// Lost is closed when the connection has ended.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Identity returns the place of this process in its job.
func (c *Client) Identity() engine.Identity { return c.id }

// Nodes returns the node of each rank.
func (c *Client) Nodes() ([]int, error) { return c.nodes, nil }

// check returns an error for a key or a value that other engines do not store. PMIx itself stores all
// values, and all keys that do not begin with "pmix".
func (c *Client) check(request, key, value string) error {
	err := engine.CheckKey(key)
	if err == nil {
		err = engine.CheckValue(value)
	}
	if err == nil && len(key) >= 4 && key[:4] == "pmix" {
		err = fmt.Errorf("key %q belongs to PMIx", key)
	}
	if err != nil {
		return c.failed(request, err)
	}
	return nil
}

// Put stores a value of this process. The value goes to the server at once, both in the scope of the
// processes of the same node and in that of the others.
func (c *Client) Put(key, value string) error {
	if err := c.check("put", key, value); err != nil {
		return err
	}
	return c.commit("put "+key, key, value)
}

func (c *Client) commit(what, key, text string) error {
	values, m := c.message(), c.message()
	values.kval(kval{key, value{kind: typeString, text: text}})
	m.command(cmdCommit)
	for _, scope := range []byte{1, 2} { // for processes of the same node, and for those of others
		m.command(scope)
		m.buffer(values)
	}
	return c.do(what, m)
}

// Fence makes values visible. No process leaves it before all have entered. A fence that does not collect
// values would not guarantee that under Slurm, so this one collects them.
func (c *Client) Fence() error {
	m := c.message()
	m.command(cmdFence)
	m.size(1)
	m.proc(proc{c.place.nspace, wildcard})
	if planted.FenceUncollected {
		m.infos()
	} else {
		m.infos(kval{keyCollect, value{kind: typeBool, number: 1}})
	}
	return c.do("fence", m)
}

// Get returns a value that another process has put before the last Fence, and false if there is none.
func (c *Client) Get(key string, rank int) (string, bool, error) {
	if err := c.check("get", key, "-"); err != nil {
		return "", false, err
	}
	text, ok, err := c.get(context.Background(), key, rank, kval{keyImmediate, value{kind: typeBool, number: 1}})
	if err != nil {
		return "", false, c.failed(fmt.Sprintf("get %s of rank %d", key, rank), err)
	}
	return text, ok, nil
}

// get asks for a value of another process. Without keyImmediate the server may wait for the value.
func (c *Client) get(ctx context.Context, key string, rank int, infos ...kval) (text string, ok bool, err error) {
	m := c.message()
	m.command(cmdGet)
	m.string(c.place.nspace)
	m.rank(uint32(rank))
	m.infos(infos...)
	m.string(key)
	s, r, err := c.ask(ctx, m)
	switch {
	case err != nil:
		return "", false, err
	case s == notFound || s == timedOut:
		return "", false, nil
	case s != success:
		return "", false, fmt.Errorf("the server answers with %v", s)
	}
	return stored(r, proc{c.place.nspace, uint32(rank)}, key)
}

// stored finds a value in the answer to a get: byte objects, each with the name of a process and its keys
// and values.
//
// If the get has waited, the byte objects come from the server of the process that has put the value, in
// that server's own serializer, whatever this client has asked for. The first byte tells which: see
// newReader.
func stored(r *reader, of proc, key string) (text string, ok bool, err error) {
	r = r.within(r.left)
	r.compact = len(r.left) > 0 && r.left[0] != 0
	for r.more() {
		r.one()
		in := r.within(r.bytes())
		in.err = r.err
		in.one()
		if p := in.proc(); in.err == nil && p != of {
			continue
		}
		for in.more() {
			if k := in.kval(); in.err == nil && k.key == key && k.value.kind == typeString {
				text, ok = k.value.text, true // the last one is the newest
			}
		}
		if in.err != nil && !ok {
			return "", false, in.err
		}
	}
	if r.err != nil && !ok {
		return "", false, r.err
	}
	return text, ok, nil
}

// Publish gives a value of this process a name. It is a Put that needs no Fence, because Lookup waits for
// the value.
func (c *Client) Publish(name, value string) error {
	if err := c.check("publish", name, value); err != nil {
		return err
	}
	return c.commit("publish "+name, name, value)
}

// Lookup waits until the process has published a name, and returns the value. The server answers as soon
// as the process has stored any value. If the answer lacks the name, Lookup asks again.
func (c *Client) Lookup(ctx context.Context, name string, rank int) (string, error) {
	err := c.check("lookup", name, "-")
	if err != nil {
		return "", err
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		value, ok, err := c.get(ctx, name, rank)
		if ok {
			return value, nil
		}
		if err == nil {
			err = wait(ctx, pause)
		}
		if err != nil {
			return "", c.failed(fmt.Sprintf("lookup %s of rank %d", name, rank), err)
		}
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// Abort ends the job. The engine may kill this process before the call returns.
func (c *Client) Abort(code int, reason string) error {
	m := c.message()
	m.command(cmdAbort)
	m.status(status(code))
	m.string(reason)
	m.size(0) // all processes of the job
	ctx, cancel := context.WithTimeout(context.Background(), abortTimeout)
	defer cancel()
	if _, _, err := c.ask(ctx, m); err != nil && !errors.Is(err, engine.ErrLost) {
		return c.failed("abort", err)
	}
	return nil
}

// Finalize ends the connection.
func (c *Client) Finalize() error {
	m := c.message()
	m.command(cmdFinalize)
	err := c.do("finalize", m)
	c.conn.Close()
	<-c.lost
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = errors.New("the process has called Finalize")
	return err
}
