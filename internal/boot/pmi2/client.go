package pmi2

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/planted"
)

const (
	// greetTimeout is how long a server may take for the requests of Open. A node daemon answers at
	// once; what does not answer is no PMI-2 server.
	greetTimeout = 60 * time.Second
	// maxReason is the length of the longest reason of an Abort in bytes.
	maxReason = 200

	// The pause between two look-ups of a name doubles from minPause to maxPause. Each look-up makes
	// the node daemon ask srun.
	minPause = time.Millisecond
	maxPause = 200 * time.Millisecond
)

// Client is the connection of a process to a PMI-2 server.
//
// One goroutine reads all frames. A request holds turn until its answer is there, because answers do
// not say to which request they belong; an Abort, which has no answer, does not wait for its turn.
type Client struct {
	conn  io.ReadWriteCloser
	id    engine.Identity
	jobid string // what the server calls the job

	turn    sync.Mutex // held from a request to its answer
	writing sync.Mutex // guards writes to conn
	answers chan message

	mu    sync.Mutex
	ended error // why the connection has ended; set before lost is closed

	lost chan struct{} // closed by the reading goroutine when nothing more will come
}

var _ engine.Client = (*Client)(nil)

// Open greets the server at the other end of conn, the connection whose descriptor the environment
// variable PMI_FD contains, and learns the identity of this process. It takes over conn.
func Open(conn io.ReadWriteCloser, env func(string) (string, bool)) (*Client, error) {
	c := &Client{conn: conn, answers: make(chan message, 1), lost: make(chan struct{})}
	c.id.Engine = "PMI-2 server"
	if v, _ := env("SLURM_JOB_ID"); v != "" {
		c.id.Engine = "Slurm (PMI 2.0)"
	}
	rank, _ := env("PMI_RANK")
	c.id.Rank, _ = strconv.Atoi(rank)
	late := time.AfterFunc(greetTimeout, func() {
		c.end(fmt.Errorf("%w: no answer in %v", engine.ErrLost, greetTimeout))
	})
	defer late.Stop()
	in := bufio.NewReaderSize(conn, pmi1.MaxLine)
	if err := c.agree(in); err != nil {
		c.end(err)
		return nil, c.failed("init", c.reason())
	}
	go c.read(in)
	if err := c.learn(env); err != nil {
		c.end(err)
		<-c.lost
		return nil, err
	}
	return c, nil
}

// agree agrees on the version of the protocol.
func (c *Client) agree(in *bufio.Reader) error {
	if err := c.write([]byte("cmd=init pmi_version=2 pmi_subversion=0\n")); err != nil {
		return err
	}
	m, err := pmi1.NewReader(in).Next()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = ending(err)
		}
		return fmt.Errorf("%w; PMI_FD names the descriptor of the engine's server, which what starts this program must keep open", err)
	}
	rc, _ := m.Get("rc")
	version, _ := m.Get("pmi_version")
	if m.Name != "response_to_init" || rc != "" && rc != "0" || version != "2" {
		return fmt.Errorf("the server answers %s rc=%s for version %q, not 2: another program of this job step may have used PMI-1 already; start programs of one kind only",
			excerpt(m.Name), rc, version)
	}
	return nil
}

// learn asks for the identity of this process.
func (c *Client) learn(env func(string) (string, bool)) error {
	jobid, _ := env("PMI_JOBID")
	full, err := c.ask("fullinit", "", "pmijobid", engine.Printable(jobid), "pmirank", strconv.Itoa(c.id.Rank), "threaded", "FALSE")
	if err != nil {
		return err
	}
	rank, rankOk := full.number("rank")
	size, sizeOk := full.number("size")
	if !rankOk || !sizeOk || rank < 0 || rank >= size || size > engine.MaxRanks {
		return c.failed("fullinit", fmt.Errorf("the answer %v names no rank in a job of at most %d", full, engine.MaxRanks))
	}
	c.id.Rank, c.id.Size = rank, size
	c.id.AppNum = -1
	if n, ok := full.number("appnum"); ok && n >= 0 {
		c.id.AppNum = n
	}

	job, err := c.ask("job-getid", "")
	if err != nil {
		return err
	}
	name, _ := job.get("jobid")
	if name == "" {
		return c.failed("job-getid", errors.New("the answer names no job"))
	}
	c.jobid = engine.Printable(name)
	// A job that Slurm requeues keeps its number.
	if n, _ := env("SLURM_RESTART_COUNT"); n != "" && n != "0" {
		name += "-" + n
	}
	c.id.Job = engine.Printable(name)

	universe, err := c.ask("info-getjobattr", " universeSize", "key", "universeSize")
	if err != nil {
		return err
	}
	c.id.Universe = -1
	if n, ok := universe.number("value"); ok && n > 0 {
		c.id.Universe = n
	}
	return nil
}

// ending returns what the error of a read or a write means.
func ending(err error) error {
	var v violation
	switch {
	case errors.As(err, &v):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the server has closed the connection", engine.ErrLost)
	}
	return fmt.Errorf("%w: %w", engine.ErrLost, err)
}

// failed returns the error of a request.
func (c *Client) failed(request string, err error) error {
	return fmt.Errorf("pmi2: %s: %s of rank %d: %w", c.id.Engine, request, c.id.Rank, err)
}

// read reads frames until the connection ends.
func (c *Client) read(in *bufio.Reader) {
	defer close(c.lost)
	for {
		m, err := readMessage(in)
		if err != nil {
			c.end(ending(err))
			return
		}
		select {
		case c.answers <- m:
		default:
			c.end(fmt.Errorf("the server sends %s without a request", excerpt(m.cmd())))
			return
		}
	}
}

// end ends the connection, with the reason that requests return from now on.
func (c *Client) end(err error) {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = err
	}
	c.mu.Unlock()
	c.conn.Close()
}

func (c *Client) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *Client) write(b []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.conn.Write(b); err != nil {
		return ending(err)
	}
	return nil
}

// request sends a request and returns its answer.
func (c *Client) request(m message) (message, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.reason(); err != nil {
		return nil, err
	}
	if err := c.write(m.encode()); err != nil {
		return nil, err
	}
	var answer message
	select {
	case answer = <-c.answers:
	case <-c.lost:
		select { // the answer may have come just before the end
		case answer = <-c.answers:
		default:
			return nil, c.reason()
		}
	}
	if want := m.cmd() + "-response"; answer.cmd() != want && !planted.AnswerMixed {
		err := fmt.Errorf("the answer is %s, not %s", excerpt(answer.cmd()), want)
		c.end(err) // answers that follow would belong to other requests
		return nil, err
	}
	return answer, nil
}

// ask is a request that succeeds if the server says so. what describes its arguments for errors.
func (c *Client) ask(cmd, what string, pairs ...string) (message, error) {
	answer, err := c.request(newMessage(cmd, pairs...))
	if err == nil {
		if rc, _ := answer.get("rc"); rc != "0" {
			text, _ := answer.get("errmsg")
			err = fmt.Errorf("the server answers rc=%s %s", rc, text)
		}
	}
	if err != nil {
		return nil, c.failed(cmd+what, err)
	}
	return answer, nil
}

// found returns the value of an answer that may have none.
func found(m message) (string, bool) {
	if f, _ := m.get("found"); f != "TRUE" {
		return "", false
	}
	return m.get("value")
}

// Lost is closed when the connection has ended.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Identity returns the place of this process in its job.
func (c *Client) Identity() engine.Identity { return c.id }

// Nodes returns the node of each rank.
func (c *Client) Nodes() ([]int, error) {
	answer, err := c.ask("info-getjobattr", " "+engine.MappingKey, "key", engine.MappingKey)
	if err != nil {
		return nil, err
	}
	value, ok := found(answer)
	if !ok {
		return nil, nil
	}
	nodes, err := engine.ParseMapping(value, c.id.Size)
	if err != nil {
		return nil, c.failed("info-getjobattr", err)
	}
	return nodes, nil
}

// stored returns the key under which the value of a rank is stored, because all ranks share the
// keys.
func stored(key string, rank int) string { return key + "-" + strconv.Itoa(rank) }

// check returns an error if the server must not get a key, or a value with it.
func (c *Client) check(request, key, value string) error {
	err := engine.CheckKey(key)
	if err == nil {
		err = engine.CheckValue(value)
	}
	if err != nil {
		return c.failed(request, err)
	}
	return nil
}

// Put stores a value of this process.
func (c *Client) Put(key, value string) error {
	key = stored(key, c.id.Rank)
	if err := c.check("kvs-put", key, value); err != nil {
		return err
	}
	_, err := c.ask("kvs-put", " "+key, "key", key, "value", value)
	return err
}

// Fence makes values visible. The server of Slurm lets no process leave it before all have entered.
func (c *Client) Fence() error {
	_, err := c.ask("kvs-fence", "")
	return err
}

// Get returns a value of another process.
func (c *Client) Get(key string, rank int) (string, bool, error) {
	key = stored(key, rank)
	if err := c.check("kvs-get", key, "-"); err != nil {
		return "", false, err
	}
	answer, err := c.ask("kvs-get", " "+key, "jobid", c.jobid, "srcid", "-1", "key", key)
	if err != nil {
		return "", false, err
	}
	value, ok := found(answer)
	return value, ok, nil
}

// Publish publishes a value of this process under a name. srun keeps both.
func (c *Client) Publish(name, value string) error {
	name = stored(name, c.id.Rank)
	if err := c.check("name-publish", name, value); err != nil {
		return err
	}
	_, err := c.ask("name-publish", " "+name, "name", name, "port", value)
	return err
}

// Lookup returns the value of a name. PMI-2 has no look-up that waits, so Lookup asks again and again.
func (c *Client) Lookup(ctx context.Context, name string, rank int) (string, error) {
	name = stored(name, rank)
	if err := c.check("name-lookup", name, "-"); err != nil {
		return "", err
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		answer, err := c.request(newMessage("name-lookup", "name", name))
		if err != nil {
			return "", c.failed("name-lookup "+name, err)
		}
		// Slurm calls the value value, the specification of PMI-2 calls it port.
		for _, key := range []string{"value", "port"} {
			if value, ok := answer.get(key); ok && value != "" {
				return value, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", c.failed("name-lookup "+name, ctx.Err())
		case <-c.lost:
			return "", c.failed("name-lookup "+name, c.reason())
		case <-time.After(pause):
		}
	}
}

// Abort ends the job. Slurm kills the processes and does not keep the code, so the reason contains it.
func (c *Client) Abort(code int, reason string) error {
	reason = "code " + strconv.Itoa(code) + ": " + reason
	text := []byte(reason[:min(len(reason), maxReason)])
	for i, b := range text {
		if b < ' ' || b > '~' || b == ';' || b == '=' {
			text[i] = '.'
		}
	}
	if err := c.write(newMessage("abort", "isworld", "TRUE", "msg", string(text)).encode()); err != nil {
		return c.failed("abort", err)
	}
	return nil
}

// Finalize ends the connection.
func (c *Client) Finalize() error {
	_, err := c.ask("finalize", "")
	c.conn.Close()
	<-c.lost
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = errors.New("the process has called Finalize")
	return err
}
