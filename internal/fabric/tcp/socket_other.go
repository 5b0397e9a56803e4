//go:build !linux

package tcp

import (
	"context"
	"github.com/halo-mpi/halo/internal/address"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// socket is a connection of the connector and of streams.
type socket struct{ *net.TCPConn }

// keepAlive makes the kernel detect that the other host has not answered for that long, while nothing is unsent. A
// process that does not read lives.
func (s *socket) keepAlive(silence time.Duration) error {
	count := max(1, int((silence+time.Second-1)/time.Second))
	return s.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: count})
}

// limitSilence is keepAlive: these platforms have nothing for what is unsent.
func (s *socket) limitSilence(silence time.Duration) error { return s.keepAlive(silence) }

// hurry makes the kernel send short writes at once, which is so from the start.
func (s *socket) hurry() error { return nil }

// ends returns the addresses of this end and of the other one.
func (s *socket) ends() (own, peer address.IP, err error) {
	own, _, err = address.Split(s.LocalAddr().String())
	if err == nil {
		peer, _, err = address.Split(s.RemoteAddr().String())
	}
	return own, peer, err
}

// sourceOf returns the address of this host from which packets to another address are sent.
func sourceOf(to address.IP) (address.IP, error) {
	c, err := net.Dial("udp", address.Join(to.String(), 9))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	own, _, err := address.Split(c.LocalAddr().String())
	return own, err
}

// listener accepts the calls of peers.
type listener struct {
	net.Listener
	host   string
	closed atomic.Bool // stored by Close, loaded by who has got an error of accept
}

func bind(host string, _ address.IP, port int) (*listener, error) {
	l, err := net.Listen("tcp", address.Join(host, port))
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, host: host}, nil
}

// Close ends accept.
func (l *listener) Close() error {
	l.closed.Store(true)
	return l.Listener.Close()
}

// addr is the address for peers.
func (l *listener) addr() string { return l.Addr().String() }

// accept waits for a caller.
func (l *listener) accept() (*socket, error) {
	c, err := l.Accept()
	if err != nil {
		return nil, err
	}
	return &socket{c.(*net.TCPConn)}, nil
}

// connect connects to an address, until ctx ends. prepare, if not nil, is called with the
// socket before.
func connect(ctx context.Context, addr string, prepare func(syscall.RawConn) error) (*socket, error) {
	dialler := net.Dialer{KeepAlive: -1}
	if prepare != nil {
		dialler.Control = func(_, _ string, c syscall.RawConn) error { return prepare(c) }
	}
	c, err := dialler.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &socket{c.(*net.TCPConn)}, nil
}
