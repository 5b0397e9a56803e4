package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/frame"
)

// Config is the place of a process, as the environment says.
type Config struct {
	Rank, Size int
	Addr       string        // host and port of rank 0
	Local      int           // ranks of each node, in blocks; 0 if that is not known
	Secret     []byte        // that all processes have; nil: none
	Timeout    time.Duration // how long processes may take to join
}

// A Client is a process's connection to rank 0.
type Client struct {
	id    engine.Identity
	local int    // ranks of each node, 0 if that is not known
	at    string // address of rank 0
	conn  io.ReadWriteCloser

	writing sync.Mutex
	server  *server // in rank 0
	close   func()  // ends the server; nil in other ranks

	mu       sync.Mutex
	next     uint32
	requests map[uint32]chan answer
	ended    error // why no request is answered any more
	leaving  bool  // the server may end
	once     sync.Once
	lost     chan struct{}
	read     chan struct{} // closed when all frames of the server have been taken
}

// answer is the answer to a request.
type answer struct {
	result uint8
	text   string
	err    error
}

// open joins the job over a connection.
func open(conn io.ReadWriteCloser, c Config, at string) (*Client, error) {
	join := frame.New(kindJoin).Raw([]byte(magic)).U16(version).U32(uint32(c.Rank)).U32(uint32(c.Size)).Bytes()
	if _, err := conn.Write(join); err != nil {
		return nil, err
	}
	r := &frame.Reader{Source: conn, Limit: frameMax}
	kind, body, err := r.Next()
	switch {
	case err != nil:
		return nil, err
	case kind == kindRefused:
		return nil, refusal(fmt.Sprintf("rank 0 at %s refuses rank %d of %d: %s", at, c.Rank, c.Size, body))
	case kind != kindWelcome || engine.CheckKey(string(body)) != nil:
		return nil, refusal(fmt.Sprintf("%s answers rank %d with a frame of kind %d", at, c.Rank, kind))
	}
	p := &Client{conn: conn, at: at, local: c.Local, requests: map[uint32]chan answer{}, lost: make(chan struct{}), read: make(chan struct{})}
	p.id = engine.Identity{Job: string(body), Rank: c.Rank, Size: c.Size, AppNum: -1, Universe: -1, Engine: "the environment"}
	go p.takeAll(r)
	return p, nil
}

// A refusal is an error for which another attempt to join is of no use.
type refusal string

func (r refusal) Error() string { return string(r) }

// takeAll takes all frames of the server.
func (c *Client) takeAll(r *frame.Reader) {
	defer close(c.read)
	err := c.take(r)
	c.mu.Lock()
	c.ended = fmt.Errorf("%w: rank 0 at %s has closed the connection", engine.ErrLost, c.at)
	if !errors.Is(err, io.EOF) {
		c.ended = fmt.Errorf("%w: %w", engine.ErrLost, err)
	}
	for n, to := range c.requests {
		to <- answer{err: c.ended}
		delete(c.requests, n)
	}
	leaving := c.leaving
	c.mu.Unlock()
	if !leaving {
		c.lose()
	}
}

// take takes frames until one cannot be read or makes no sense, and returns why.
func (c *Client) take(r *frame.Reader) error {
	for {
		kind, body, err := r.Next()
		if err != nil {
			return err
		}
		b := frame.Body{Left: body}
		switch kind {
		case kindDone:
			number, result := b.U32(), b.U8()
			c.mu.Lock()
			to := c.requests[number]
			delete(c.requests, number)
			c.mu.Unlock()
			if b.Bad || to == nil {
				return fmt.Errorf("an answer to request %d", number)
			}
			to <- answer{result: result, text: string(b.Left)}
		case kindLeave:
			c.mu.Lock()
			c.leaving = true
			c.mu.Unlock()
		case kindOver:
			c.lose()
		default:
			return fmt.Errorf("a frame of kind %d", kind)
		}
	}
}

// lose closes Lost.
func (c *Client) lose() { c.once.Do(func() { close(c.lost) }) }

// Lost is closed when rank 0 has ended without having said that it may, or when the job was aborted.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// ask sends a request and waits for its answer.
func (c *Client) ask(ctx context.Context, what string, request func(number uint32) *frame.Writer) (value string, ok bool, err error) {
	to := make(chan answer, 1)
	c.mu.Lock()
	c.next++
	number, ended := c.next, c.ended
	if ended == nil {
		c.requests[number] = to
	}
	c.mu.Unlock()
	if ended == nil {
		ended = c.write(request(number))
	}
	if ended != nil {
		return "", false, c.failed(what, ended)
	}
	select {
	case a := <-to:
		switch {
		case a.err != nil:
			return "", false, c.failed(what, a.err)
		case a.result == doneFailed:
			return "", false, c.failed(what, errors.New(a.text))
		}
		return a.text, a.result == doneValue, nil
	case <-ctx.Done():
		return "", false, c.failed(what, ctx.Err()) // take takes the answer
	}
}

// failed returns the error of a request.
func (c *Client) failed(what string, err error) error {
	return fmt.Errorf("rendezvous: rank %d of %d at %s: %s: %w", c.id.Rank, c.id.Size, c.at, what, err)
}

func (c *Client) write(w *frame.Writer) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.conn.Write(w.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrLost, err)
	}
	return nil
}

// Identity implements engine.Client, as the other methods do.
func (c *Client) Identity() engine.Identity { return c.id }

// Nodes implements engine.Client.
func (c *Client) Nodes() (nodes []int, err error) {
	if c.local == 0 {
		return nil, nil
	}
	for r := range c.id.Size {
		nodes = append(nodes, r/c.local)
	}
	return nodes, nil
}

// Put implements engine.Client.
func (c *Client) Put(key, value string) error { return c.put("put", key, value) }

func (c *Client) put(what, key, value string) error {
	err := engine.CheckKey(key)
	if err == nil {
		err = engine.CheckValue(value)
	}
	if err != nil {
		return c.failed(what, err)
	}
	_, _, err = c.ask(context.Background(), what, func(n uint32) *frame.Writer { return frame.New(kindPut).U32(n).Text(key).Text(value) })
	return err
}

// Fence implements engine.Client.
func (c *Client) Fence() error {
	_, _, err := c.ask(context.Background(), "fence", func(n uint32) *frame.Writer { return frame.New(kindFence).U32(n) })
	return err
}

// Get implements engine.Client.
func (c *Client) Get(key string, rank int) (value string, ok bool, err error) {
	return c.get(context.Background(), "get", key, rank, 0)
}

func (c *Client) get(ctx context.Context, what, key string, rank int, wait uint8) (string, bool, error) {
	if err := engine.CheckKey(key); err != nil {
		return "", false, c.failed(what, err)
	}
	if rank < 0 || rank >= c.id.Size {
		return "", false, c.failed(what, fmt.Errorf("the job has no rank %d", rank))
	}
	return c.ask(ctx, what, func(n uint32) *frame.Writer { return frame.New(kindGet).U32(n).U32(uint32(rank)).U8(wait).Text(key) })
}

// Publish implements engine.Client.
func (c *Client) Publish(name, value string) error { return c.put("publish", name, value) }

// Lookup implements engine.Client.
func (c *Client) Lookup(ctx context.Context, name string, rank int) (string, error) {
	value, _, err := c.get(ctx, "lookup", name, rank, 1)
	return value, err
}

// Abort implements engine.Client: the others learn it from rank 0.
func (c *Client) Abort(code int, reason string) error {
	return c.write(frame.New(kindAbort).U32(uint32(code)).Rest(reason))
}

// Finalize implements engine.Client. Rank 0 listens until it ends.
func (c *Client) Finalize() error {
	if c.server != nil {
		c.server.leave()
		return nil
	}
	err := c.write(frame.New(kindBye))
	if err != nil {
		<-c.read // the connection has ended: a Leave of rank 0 may have come before
	}
	c.conn.Close()
	if errors.Is(err, engine.ErrLost) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.leaving {
			return nil // rank 0 has ended earlier, as it may
		}
	}
	return err
}
