package meet

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
)

// To join, both sides of a socket write the same number of bytes, so that the socket is quiescent when both
// have read them:
//
//	"HALOJOIN" | random 16 | length uint16 | name of a port, and zeros
const (
	joinMark   = "HALOJOIN"
	randomSize = 16
	joinSize   = 320
)

// Join connects this process with the one at the other end of a socket, which does the same. swap
// sends out over the socket and receives as many bytes into in; it does not change the state of the socket.
// self is a communicator of this process alone.
//
// Both open a port and tell each other its name. The one that has drawn the higher number accepts. The
// names contain secrets: whoever can read the data on the socket can impersonate a process at its end.
func (e *Engine) Join(ctx context.Context, self *comm.Comm, swap func(ctx context.Context, out, in []byte) error) (*comm.Comm, error) {
	name, err := e.Open(Options{})
	if err != nil {
		return nil, err
	}
	defer e.ClosePort(name)
	const head = len(joinMark) + randomSize + 2
	out, in := make([]byte, joinSize), make([]byte, joinSize)
	if head+len(name) > len(out) {
		return nil, class.Errorf(class.Intern, "a port name of %d bytes", len(name))
	}
	copy(out, joinMark)
	mine := out[len(joinMark) : len(joinMark)+randomSize]
	rand.Read(mine)
	binary.LittleEndian.PutUint16(out[head-2:], uint16(len(name)))
	copy(out[head:], name)
	if err := swap(ctx, out, in); err != nil {
		if ctx.Err() != nil {
			return nil, ended(ctx, "the other end of the socket has not joined")
		}
		var ce *class.Error
		if errors.As(err, &ce) {
			return nil, err
		}
		return nil, &class.Error{Class: class.Other, Text: "the socket: " + err.Error(), Cause: err}
	}
	theirs := in[len(joinMark) : len(joinMark)+randomSize]
	n := int(binary.LittleEndian.Uint16(in[head-2:]))
	if !bytes.HasPrefix(in, []byte(joinMark)) || head+n > len(in) {
		return nil, class.Errorf(class.Other, "the other end of the socket is no process of Halo that joins: it has sent %.40q", printable(string(in)))
	}
	switch bytes.Compare(mine, theirs) {
	case 0:
		return nil, class.Errorf(class.Other, "the other end of the socket sends back what it gets")
	case 1:
		return e.Accept(ctx, name, self, 0)
	}
	return e.Connect(ctx, string(in[head:head+n]), self, 0)
}
