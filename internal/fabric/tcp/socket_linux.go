package tcp

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/sys"
)

// socket is a connection of the connector and of streams.
type socket struct{ *os.File }

// keepAlive makes the kernel detect that the other host has not answered for that long, while nothing is unsent. A
// process that does not read lives.
func (s *socket) keepAlive(silence time.Duration) error {
	return s.control(func(fd int) error { return sys.KeepAlive(fd, silence) })
}

// limitSilence is keepAlive that also detects it while something is unsent. The other side has to read.
func (s *socket) limitSilence(silence time.Duration) error {
	return s.control(func(fd int) error { return sys.LimitSilence(fd, silence) })
}

// hurry makes the kernel send short writes at once.
func (s *socket) hurry() error {
	return s.control(func(fd int) error { return sys.TuneSocket(fd, 0) })
}

// ends returns the addresses of this end and of the other one.
func (s *socket) ends() (own, peer address.IP, err error) {
	err = s.control(func(fd int) error {
		a, b, err := sys.Ends(fd)
		own, peer = a, b
		return err
	})
	return own, peer, err
}

// sourceOf returns the address of this host from which packets to another address are sent.
func sourceOf(to address.IP) (address.IP, error) { return sys.Route(to) }

// CloseWrite ends the stream to the other side.
func (s *socket) CloseWrite() error { return s.control(sys.ShutdownWrite) }

func (s *socket) control(work func(fd int) error) error {
	c, err := s.SyscallConn()
	if err != nil {
		return err
	}
	return control(c, work)
}

func control(c syscall.RawConn, work func(fd int) error) (err error) {
	if e := c.Control(func(fd uintptr) { err = work(int(fd)) }); e != nil {
		return e
	}
	return err
}

// listener accepts the calls of peers.
type listener struct {
	file   *os.File
	host   string
	port   int
	closed atomic.Bool // stored by Close, loaded by who has got an error of accept
}

func bind(host string, a address.IP, port int) (*listener, error) {
	file, port, err := sys.TCPEndpoint(a, port).Listen()
	if err != nil {
		return nil, err
	}
	return &listener{file: file, host: host, port: port}, nil
}

// addr is the address for peers.
func (l *listener) addr() string { return address.Join(l.host, l.port) }

// accept waits for a caller.
func (l *listener) accept() (*socket, error) {
	file, err := sys.Accept(l.file)
	if err != nil {
		return nil, err
	}
	return &socket{file}, nil
}

// Close ends accept.
func (l *listener) Close() error {
	l.closed.Store(true)
	return l.file.Close()
}

// connect connects to an address, until ctx ends. prepare, if not nil, is called with the
// socket before.
func connect(ctx context.Context, addr string, prepare func(syscall.RawConn) error) (*socket, error) {
	a, port, err := address.Split(addr)
	if err != nil {
		return nil, err
	}
	end := sys.TCPEndpoint(a, port)
	file, err := end.Socket()
	if err != nil {
		return nil, err
	}
	s := &socket{file}
	if err := s.connect(ctx, end, prepare); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) connect(ctx context.Context, end sys.Endpoint, prepare func(syscall.RawConn) error) error {
	if prepare != nil {
		c, err := s.SyscallConn()
		if err != nil {
			return err
		}
		if err := prepare(c); err != nil {
			return err
		}
	}
	stop := interrupt(ctx, s)
	err := end.Connect(s.File)
	stop()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
