//go:build unix

package reach

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// The agents that one step of srun starts on all nodes call the launcher, which waits for them at a port:
// the step has one input and one output for all of them, without encryption, and slow. Its input is an
// invitation: who may call, where, and a key. An agent and the launcher agree on a secret of their own
// (X25519), which takes the key in, prove it to each other, and seal all that follows. So somebody who
// reads the input of the step cannot read the job's secret, nor call without it.

// An Invitation is what the agents of a step read.
type Invitation struct {
	job       string
	public    string // the launcher's key: see wire.PublicKey
	key       [32]byte
	Names     []string // of the nodes
	addresses []string // of the launcher
}

const (
	// callTimeout bounds the time in which an agent reaches the launcher, and that of a handshake.
	callTimeout = 10 * time.Second
	// maxInvitation bounds an invitation, in bytes.
	maxInvitation = 4 << 20
	// publicSize is the length of wire.PublicKey, which a caller sends first.
	publicSize = 43
)

// NewInvitation invites the agents of nodes to a job whose launcher has the key own, and addresses.
func NewInvitation(job string, own *ecdh.PrivateKey, names, addresses []string) *Invitation {
	v := &Invitation{job: job, public: wire.PublicKey(own), Names: names, addresses: addresses}
	rand.Read(v.key[:])
	return v
}

// Encode returns the invitation as a frame.
func (v *Invitation) Encode() []byte {
	return frame.New(talk.KindPlan).Text(v.job).Text(v.public).Raw(v.key[:]).Words(v.Names).Words(v.addresses).Bytes()
}

func decodeInvitation(body []byte) (*Invitation, error) {
	r := frame.Body{Left: slices.Clone(body)}
	v := &Invitation{job: r.Text(), public: r.Text(), key: [32]byte(r.Take(32)), Names: r.Words(), addresses: r.Words()}
	if !r.Done() || len(v.Names) == 0 || len(v.addresses) == 0 {
		return nil, fmt.Errorf("invitation of %d bytes with %d nodes and %d addresses", len(body), len(v.Names), len(v.addresses))
	}
	return v, nil
}

// secret is what caller and launcher prove to each other.
func (v *Invitation) secret(own *ecdh.PrivateKey, public string) ([32]byte, error) {
	pair, err := wire.PairSecret(own, public)
	m := hmac.New(sha256.New, pair[:])
	if !planted.InvitationIgnored {
		m.Write(v.key[:])
	}
	return [32]byte(m.Sum(nil)), err
}

// pair describes the connection of the node with an index to the launcher.
func (v *Invitation) pair(secret [32]byte, index int) wire.Pair {
	return wire.Pair{Secret: secret, Job: "halo/agent/" + v.job, From: 1 + index}
}

// A SealedStream is the connection of an agent that has called.
type SealedStream struct {
	*wire.Stream
	conn net.Conn
}

// Close ends the connection.
func (s *SealedStream) Close() error { return s.conn.Close() }

// call is the caller's side of a connection to the launcher.
func (v *Invitation) call(c net.Conn, index int) (*SealedStream, error) {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	secret, err := v.secret(own, v.public)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(callTimeout))
	if _, err := io.WriteString(c, wire.PublicKey(own)); err != nil {
		return nil, err
	}
	seal, err := wire.Meet(c, v.pair(secret, index))
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Time{})
	return &SealedStream{wire.NewStream(c, seal), c}, nil
}

// Answer is the launcher's side of a connection. own is the key of v.public. A caller that fails gets no
// explanation.
func (v *Invitation) Answer(c net.Conn, own *ecdh.PrivateKey) (index int, _ *SealedStream, err error) {
	c.SetDeadline(time.Now().Add(callTimeout))
	var public [publicSize]byte
	if _, err := io.ReadFull(c, public[:]); err != nil {
		return 0, nil, err
	}
	secret, err := v.secret(own, string(public[:]))
	if err != nil {
		return 0, nil, err
	}
	from, seal, err := wire.Welcome(c, 1+len(v.Names), func(int) (wire.Pair, error) { return v.pair(secret, -1), nil })
	if err != nil {
		return 0, nil, err
	}
	c.SetDeadline(time.Time{})
	return from - 1, &SealedStream{wire.NewStream(c, seal), c}, nil
}

// AnswerInvitation reads an invitation and calls the launcher.
func AnswerInvitation(in io.Reader) (*SealedStream, error) {
	r := frame.Reader{Source: in, Limit: maxInvitation}
	_, body, err := r.Next()
	if err != nil {
		return nil, fmt.Errorf("no invitation from the launcher: %w", err)
	}
	v, err := decodeInvitation(body)
	if err != nil {
		return nil, err
	}
	index := ownIndex(v.Names)
	if index < 0 {
		return nil, fmt.Errorf("this node is none of %s", strings.Join(v.Names[:min(len(v.Names), 8)], ", "))
	}
	for end := time.Now().Add(callTimeout); ; time.Sleep(100 * time.Millisecond) {
		for _, a := range v.addresses {
			c, e := net.DialTimeout("tcp", a, dialTime)
			if e == nil {
				var s *SealedStream
				s, e = v.call(c, index)
				if e == nil {
					return s, nil
				}
				c.Close()
			}
			err = e
		}
		if time.Now().After(end) || errors.Is(err, wire.ErrRefused) {
			return nil, fmt.Errorf("cannot reach the launcher at %s: %w: -iface names the network by which its host is reached",
				strings.Join(v.addresses, ", "), err)
		}
	}
}

// ownIndex is the index of this node in a list of names that Slurm has for nodes; -1 if it is not there.
func ownIndex(names []string) int {
	name := os.Getenv(plan.EnvNode)
	if name == "" {
		name, _ = os.Hostname()
	}
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	short, _, _ := strings.Cut(name, ".")
	return slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, short) })
}
