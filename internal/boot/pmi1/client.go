package pmi1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// A Client is a process's connection to a PMI-1 server.
//
// One goroutine reads all answers, so that it notices the end of the server at once. The protocol has
// one request at a time: a request holds a mutex until its answer has come. So a Lookup of another
// goroutine waits during a Fence.
type Client struct {
	conn io.ReadWriteCloser
	id   engine.Identity
	kvs  string
	name string // of the engine, for errors

	asking  sync.Mutex // held from a request to its answer
	answers chan Message
	lost    chan struct{} // closed when nothing more comes
	why     error         // set before lost is closed
	final   bool          // Finalize was called; guarded by asking
}

const (
	// Lookup asks again for a name that is not published yet, because the server answers at once. The
	// pause before it asks doubles from firstPause to lastPause.
	firstPause = 2 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// Open starts a conversation over the connection of a process that knows its rank and the size of its
// job from the environment. It takes over conn.
func Open(conn io.ReadWriteCloser, rank, size int) (*Client, error) {
	c := &Client{conn: conn, answers: make(chan Message), lost: make(chan struct{}), name: "the PMI-1 server"}
	c.id = engine.Identity{Rank: rank, Size: size}
	go c.read()
	if err := c.open(); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// OpenPort starts a conversation over a connection to the port of a server. id is the value of PMI_ID, by
// which the server recognises the process and tells it rank and size. It takes over conn.
func OpenPort(conn io.ReadWriteCloser, id string) (*Client, error) {
	c := &Client{conn: conn, answers: make(chan Message), lost: make(chan struct{}), name: "the PMI-1 server"}
	c.id = engine.Identity{Rank: -1, Size: -1}
	go c.read()
	err := c.introduce(id)
	if err == nil {
		err = c.open()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// introduce tells the server which of its processes this one is. The server answers with initack, and
// then with one message for each of three properties of the process.
func (c *Client) introduce(id string) error {
	if _, err := c.ask("initack", "initack", "pmiid", id); err != nil {
		return err
	}
	for range 3 {
		m, err := c.next("initack")
		if err != nil {
			return err
		}
		if n, ok := m.Int("size"); ok {
			c.id.Size = n
		}
		if n, ok := m.Int("rank"); ok {
			c.id.Rank = n
		}
	}
	return nil
}

// open agrees on the version, checks the limits of the server, and learns the place of the process.
func (c *Client) open() error {
	if r, n := c.id.Rank, c.id.Size; n < 1 || n > engine.MaxRanks || r < 0 || r >= n {
		return fmt.Errorf("pmi1: %s gives this process rank %d of %d", c.name, r, n)
	}
	m, err := c.ask("init", "response_to_init", "pmi_version", "1", "pmi_subversion", "1")
	if err != nil {
		return err
	}
	version, _ := m.Int("pmi_version")
	sub, _ := m.Int("pmi_subversion")
	c.name = fmt.Sprintf("the PMI-1 server (version %d.%d)", version, sub)
	if version != 1 {
		return fmt.Errorf("pmi1: rank %d: %s does not speak version 1 of PMI", c.id.Rank, c.name)
	}
	c.id.Engine = fmt.Sprintf("PMI %d.%d", version, sub)
	m, err = c.ask("get_maxes", "maxes")
	if err != nil {
		return err
	}
	key, _ := m.Int("keylen_max")
	value, _ := m.Int("vallen_max")
	if key < engine.MaxKey || value < engine.MaxValue {
		return fmt.Errorf("pmi1: rank %d: %s has room for keys of %d bytes and values of %d, Halo needs %d and %d", c.id.Rank, c.name,
			key, value, engine.MaxKey, engine.MaxValue)
	}
	m, err = c.ask("get_my_kvsname", "my_kvsname")
	if err != nil {
		return err
	}
	c.kvs, _ = m.Get("kvsname")
	c.id.Job = engine.Printable(c.kvs)
	if c.kvs == "" || len(c.kvs) > maxStore {
		return fmt.Errorf("pmi1: rank %d: %s names the job %q", c.id.Rank, c.name, c.kvs)
	}
	m, err = c.ask("get_appnum", "appnum")
	if err != nil {
		return err
	}
	c.id.AppNum = numberOr(m, "appnum", -1)
	m, err = c.ask("get_universe_size", "universe_size")
	if err != nil {
		return err
	}
	c.id.Universe = numberOr(m, "size", -1)
	return nil
}

// numberOr returns the number of the field key, or other if there is none or it is negative.
func numberOr(m Message, key string, other int) int {
	if n, ok := m.Int(key); ok && n >= 0 {
		return n
	}
	return other
}

// read reads all answers.
func (c *Client) read() {
	r := NewReader(c.conn)
	for {
		m, err := r.Next()
		if err != nil {
			c.why = engine.ErrLost
			if !errors.Is(err, io.EOF) {
				c.why = fmt.Errorf("%w: %w", engine.ErrLost, err)
			}
			close(c.lost)
			return
		}
		select {
		case c.answers <- m:
		case <-time.After(strayLimit): // an answer without a request
			c.why = fmt.Errorf("%w: %s without a request", engine.ErrLost, m.Name)
			close(c.lost)
			return
		}
	}
}

// strayLimit is how long an answer waits for the goroutine that has sent the request. That goroutine
// needs only the scheduler, so an answer that waits longer belongs to no request.
const strayLimit = 10 * time.Second

// Lost is closed when the server has ended, or has closed the connection after Finalize.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// ask sends a request and returns its answer.
func (c *Client) ask(name, answer string, pairs ...string) (Message, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.send(New(name, pairs...)); err != nil {
		return Message{}, err
	}
	m, err := c.next(name)
	if err == nil && m.Name != answer {
		err = fmt.Errorf("pmi1: rank %d: %s answers %s with %s", c.id.Rank, c.name, name, m.Name)
	}
	return m, err
}

// failed returns the error of a request.
func (c *Client) failed(request string, err error) error {
	return fmt.Errorf("pmi1: rank %d: %s to %s: %w", c.id.Rank, request, c.name, err)
}

func (c *Client) send(m Message) error {
	if c.final {
		return fmt.Errorf("pmi1: rank %d: %s: this process has left %s: %w", c.id.Rank, m.Name, c.name, engine.ErrLost)
	}
	b, err := m.Bytes()
	if err != nil {
		return err
	}
	if _, err := c.conn.Write(b); err != nil {
		return c.failed(m.Name, fmt.Errorf("%w: %w", engine.ErrLost, err))
	}
	return nil
}

// next returns the next message of the server, an answer to the request.
func (c *Client) next(request string) (Message, error) {
	select {
	case m := <-c.answers:
		return m, nil
	case <-c.lost:
		return Message{}, c.failed(request, c.why)
	}
}

// status returns an error if the server reports one. A server may leave out rc in case of success.
func (c *Client) status(m Message, request string) error {
	if rc, ok := m.Int("rc"); ok && rc != 0 {
		text, _ := m.Get("msg")
		return fmt.Errorf("pmi1: rank %d: %s refuses %s: rc=%d %.200s", c.id.Rank, c.name, request, rc, text)
	}
	return nil
}

// Identity implements engine.Client.
func (c *Client) Identity() engine.Identity { return c.id }

// Nodes implements engine.Client.
func (c *Client) Nodes() ([]int, error) {
	value, ok, err := c.get(engine.MappingKey)
	if err != nil || !ok {
		return nil, err
	}
	nodes, err := engine.ParseMapping(value, c.id.Size)
	if err != nil {
		return nil, fmt.Errorf("pmi1: rank %d: %s: %w", c.id.Rank, c.name, err)
	}
	return nodes, nil
}

// key returns the key under which the store keeps the value of rank. It contains the rank, because the
// store has one name space for all processes.
func (c *Client) key(key string, rank int) (string, error) {
	k := key + "-" + strconv.Itoa(rank)
	return k, engine.CheckKey(k)
}

// Put implements engine.Client.
func (c *Client) Put(key, value string) error {
	k, err := c.key(key, c.id.Rank)
	if err == nil {
		err = engine.CheckValue(value)
	}
	if err != nil {
		return c.failed("put", err)
	}
	m, err := c.ask("put", "put_result", "kvsname", c.kvs, "key", k, "value", value)
	if err != nil {
		return err
	}
	return c.status(m, "put")
}

// Fence implements engine.Client.
func (c *Client) Fence() error {
	m, err := c.ask("barrier_in", "barrier_out")
	if err != nil {
		return err
	}
	return c.status(m, "barrier_in")
}

// Get implements engine.Client.
func (c *Client) Get(key string, rank int) (value string, ok bool, err error) {
	k, err := c.key(key, rank)
	if err != nil {
		return "", false, c.failed("get", err)
	}
	return c.get(k)
}

// get returns a value. Servers report a value that does not exist by different codes, so ok is false for
// any of them.
func (c *Client) get(key string) (value string, ok bool, err error) {
	m, err := c.ask("get", "get_result", "kvsname", c.kvs, "key", key)
	if err != nil {
		return "", false, err
	}
	if rc, has := m.Int("rc"); has && rc != 0 {
		return "", false, nil
	}
	value, ok = m.Get("value")
	return value, ok, nil
}

// service returns the name under which the server publishes a name of rank. It contains the job, because
// the server may keep the names of several jobs.
func (c *Client) service(name string, rank int) (string, error) {
	k, err := c.key(name, rank)
	return "halo-" + c.kvs + "-" + k, err
}

// Publish implements engine.Client.
func (c *Client) Publish(name, value string) error {
	s, err := c.service(name, c.id.Rank)
	if err == nil {
		err = engine.CheckValue(value)
	}
	if err != nil {
		return c.failed("publish_name", err)
	}
	m, err := c.ask("publish_name", "publish_result", "service", s, "port", value)
	if err != nil {
		return err
	}
	if err := c.status(m, "publish_name"); err != nil {
		return err
	}
	if info, ok := m.Get("info"); ok && info != "ok" {
		return fmt.Errorf("pmi1: rank %d: %s refuses publish_name of %s: %.200s", c.id.Rank, c.name, name, info)
	}
	return nil
}

// Lookup implements engine.Client. The server does not wait for a name, so the client asks again and
// again.
func (c *Client) Lookup(ctx context.Context, name string, rank int) (string, error) {
	s, err := c.service(name, rank)
	if err != nil {
		return "", c.failed("lookup_name", err)
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		m, err := c.ask("lookup_name", "lookup_result", "service", s)
		if err != nil {
			return "", err
		}
		if port, ok := m.Get("port"); ok && port != "" && c.status(m, "lookup_name") == nil {
			return port, nil
		}
		select {
		case <-ctx.Done():
			return "", c.failed("lookup_name", ctx.Err())
		case <-c.lost:
			return "", c.failed("lookup_name", c.why)
		case <-time.After(pause):
		}
	}
}

// Abort implements engine.Client. The server does not answer it, and Abort does not wait for a request in
// progress, such as a Fence.
func (c *Client) Abort(code int, reason string) error {
	b, err := New("abort", "exitcode", strconv.Itoa(code)).Bytes()
	if err == nil {
		_, err = c.conn.Write(b)
	}
	if err != nil {
		return c.failed("abort", err)
	}
	return nil
}

// Finalize implements engine.Client.
func (c *Client) Finalize() error {
	m, err := c.ask("finalize", "finalize_ack")
	c.asking.Lock()
	done := c.final
	c.final = true
	c.asking.Unlock()
	if done {
		return nil
	}
	if err == nil {
		err = c.status(m, "finalize")
	}
	c.conn.Close()
	return err
}
