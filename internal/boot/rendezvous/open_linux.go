package rendezvous

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// attemptTime bounds one attempt to connect.
	attemptTime = 3 * time.Second
	// handshakeTime bounds a handshake.
	handshakeTime = 5 * time.Second
	// firstPause and lastPause are the pauses between attempts. They double.
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// callersMax bounds the handshakes of callers at the same time, who may be anybody.
	callersMax = 64
)

// rendezvousJob is the name of the job in the handshake: the processes do not know another one yet.
const rendezvousJob = "halo/rendezvous"

// Open joins the job. Rank 0 listens first.
func Open(c Config) (*Client, error) {
	if c.Size < 1 || c.Size > engine.MaxRanks || c.Rank < 0 || c.Rank >= c.Size {
		return nil, fmt.Errorf("rank %d of %d is no place in a job", c.Rank, c.Size)
	}
	host, port, err := splitHost(c.Addr)
	if err != nil {
		return nil, err
	}
	w := way{c, host, port, c.Local == c.Size || onLoopback(host), sha256.Sum256(append([]byte("halo/env/"), c.Secret...))}
	if w.near {
		w.Local = c.Size
	} else if c.Secret == nil {
		return nil, fmt.Errorf("rank %d of %d: %s is on another host, and there is no secret by which the processes know each other: "+
			"give all of them the same HALO_SECRET_FILE, of mode 0600", c.Rank, c.Size, c.Addr)
	}
	var s *server
	var stop func()
	if c.Rank == 0 {
		s = newServer(c.Size, c.Timeout)
		stop, err = w.listen(s)
		if err != nil {
			return nil, fmt.Errorf("rank 0 of %d cannot listen at %s: %w: choose another port if another job uses it", c.Size, c.Addr, err)
		}
	}
	p, err := w.connect()
	if err != nil {
		if stop != nil {
			stop()
		}
		return nil, err
	}
	p.server, p.close = s, stop
	return p, nil
}

// splitHost splits the address of rank 0.
func splitHost(addr string) (host string, port int, err error) {
	at := strings.LastIndexByte(addr, ':')
	if at > 0 {
		if n, e := strconv.ParseUint(addr[at+1:], 10, 16); e == nil && n > 0 {
			return strings.Trim(addr[:at], "[]"), int(n), nil
		}
	}
	return "", 0, fmt.Errorf("HALO_ADDR=%s: want HOST:PORT of rank 0", addr)
}

// onLoopback reports whether a host is this one, for all processes.
func onLoopback(host string) bool {
	ip, err := address.Parse(host)
	return host == "localhost" || err == nil && ip.Loopback()
}

// A way is how the processes of a job meet.
type way struct {
	Config
	host   string
	port   int
	near   bool // on one host
	secret [32]byte
}

// nodeName is the name of the socket of rank 0 on one host.
func (w *way) nodeName() string {
	return fmt.Sprintf("halo-env-%d-%s-%d", os.Getuid(), engine.Printable(w.host), w.port)
}

// pair identifies the connection of a rank with the server.
func (w *way) pair(from int) wire.Pair {
	return wire.Pair{Secret: w.secret, Job: rendezvousJob, From: from, To: w.Size}
}

// listen makes rank 0 listen. stop ends that.
func (w *way) listen(s *server) (stop func(), err error) {
	if w.near {
		l, err := sys.ListenNode(w.nodeName())
		if err != nil {
			return nil, err
		}
		go w.acceptNear(l, s)
		return func() { l.Close() }, nil
	}
	l, _, err := sys.TCPEndpoint(make([]byte, 16), w.port).Listen() // takes IPv4, too
	if err != nil && !errors.Is(err, syscall.EADDRINUSE) {
		l, _, err = sys.TCPEndpoint(make([]byte, 4), w.port).Listen()
	}
	if err != nil {
		return nil, err
	}
	go w.acceptFar(l, s)
	return func() { l.Close() }, nil
}

// acceptNear accepts processes of this user.
func (w *way) acceptNear(l *os.File, s *server) {
	sys.ServeNode(l, func(link *sys.Link, _ int) { go s.serve(link.Stream(), -1) })
}

// acceptFar accepts processes that know the secret.
func (w *way) acceptFar(l *os.File, s *server) {
	slots := make(chan struct{}, callersMax)
	for {
		conn, err := sys.Accept(l)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return
			}
			time.Sleep(lastPause)
			continue
		}
		slots <- struct{}{}
		go func() {
			conn.SetDeadline(time.Now().Add(handshakeTime))
			from, seal, err := wire.Welcome(conn, w.Size+1, func(from int) (wire.Pair, error) { return w.pair(0), nil })
			<-slots
			if err != nil {
				conn.Close()
				return
			}
			conn.SetDeadline(time.Time{})
			s.serve(sealed{conn, wire.NewStream(conn, seal)}, from)
		}()
	}
}

// sealed is a sealed connection.
type sealed struct {
	file *os.File
	*wire.Stream
}

// Close implements io.Closer.
func (s sealed) Close() error { return s.file.Close() }

// connect connects to rank 0. It tries again until rank 0 listens, or the time is over: the name of its host may
// not exist yet.
func (w *way) connect() (*Client, error) {
	end := time.Now().Add(w.Timeout)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, at, err := w.dial()
		if err == nil {
			var p *Client
			p, err = open(conn, w.Config, at)
			if err == nil {
				return p, nil
			}
			conn.Close()
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			return nil, refused
		case errors.Is(err, wire.ErrVersion):
			return nil, fmt.Errorf("rank %d of %d at %s: %w: build all programs of a job from the same version of Halo", w.Rank, w.Size, w.Addr, err)
		case time.Now().After(end):
			host, _ := os.Hostname()
			return nil, fmt.Errorf("rank %d of %d (on %s) has not reached rank 0 at HALO_ADDR=%s within %v: %w: start rank 0, and check the address; "+
				"HALO_JOIN_TIMEOUT sets the time", w.Rank, w.Size, host, w.Addr, w.Timeout, err)
		}
		time.Sleep(pause)
	}
}

// dial makes one attempt.
func (w *way) dial() (conn io.ReadWriteCloser, at string, err error) {
	if w.near {
		link, err := sys.DialNode(w.nodeName())
		if err != nil {
			return nil, "", err
		}
		if pid, uid, err := link.Peer(); err != nil || uid != os.Getuid() {
			link.Close()
			return nil, "", refusal(fmt.Sprintf("process %d of user %d listens at %s in the place of rank 0", pid, uid, w.Addr))
		}
		return link.Stream(), w.Addr, nil
	}
	ip := address.IP{127, 0, 0, 1}
	if w.Rank != 0 {
		ip, err = address.Lookup(w.host)
		if err != nil {
			return nil, "", err
		}
	}
	at = address.Join(ip.String(), w.port)
	e := sys.TCPEndpoint(ip, w.port)
	file, err := e.Socket()
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	file.SetDeadline(time.Now().Add(attemptTime))
	if err := e.Connect(file); err != nil {
		return nil, "", fmt.Errorf("%s: %w", at, err)
	}
	file.SetDeadline(time.Now().Add(handshakeTime))
	seal, err := wire.Meet(file, w.pair(w.Rank))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w (it may have another HALO_SECRET_FILE or HALO_SIZE, or be no process of this job)", at, err)
	}
	file.SetDeadline(time.Time{})
	return sealed{file, wire.NewStream(file, seal)}, at, nil
}
