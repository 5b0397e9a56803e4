package tcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// lone opens the fabric of a process that is alone in its job.
func lone(t *testing.T, l limits) *Fabric {
	t.Helper()
	f, _, err := Listen(Config{Job: boot.Memory(1)[0].Job(), Alone: true, Parted: func(int) {}, limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// S8, X-DYN-01: callers of a port that do not prove its secret get no byte, or only what who replays a Hello gets, and
// never reach who accepts; meanwhile clients with the secret do.
func TestS8_CallersOfPorts(t *testing.T) {
	defer testrun.Watch("TestS8_CallersOfPorts hangs: perhaps another caller was accepted, which sends nothing")()
	server, client := lone(t, limits{callers: 4, hello: 50 * time.Millisecond, penalty: time.Millisecond}), lone(t, limits{})
	p, err := server.OpenPort(secret(7), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	pair := wire.Between(secret(7), clientEnd, portEnd)
	forged := wire.Between(secret(8), clientEnd, portEnd)
	known := forged
	known.From = pair.From // the tag may have been heard
	hello := greeting(pair)
	attacks := map[string][]byte{
		"another secret":               greeting(forged),
		"another secret, known tag":    greeting(known),
		"truncated":                    hello[:len(hello)-1],
		"silent":                       nil,
		"a process of the job":         greeting(wire.Pair{Secret: secret(7), Job: server.connector.job.ID, From: 0, To: 0}),
		"text":                         []byte(strings.Repeat("GET / HTTP/1.0\r\n", 10)),
		"replayed, and a forged proof": append(append([]byte(nil), hello...), make([]byte, wire.ProofSize)...),
	}
	for what, b := range attacks {
		conn, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(conn)
		if want := 0; strings.HasPrefix(what, "replayed") {
			want = wire.ChallengeSize
			if len(got) != want {
				t.Errorf("%s: %d bytes, want %d", what, len(got), want)
			}
		} else if len(got) != want {
			t.Errorf("%s: %d bytes, want none", what, len(got))
		}
	}
	for range 20 { // callers that send nothing, more than there are slots
		conn, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	call, err := client.CallPort(context.Background(), p.Addr(), secret(7))
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	served, err := p.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if _, err := call.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := io.ReadFull(served, b); err != nil || b[0] != 'x' {
		t.Fatal(b, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := p.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("somebody else has been accepted: %v, %v", c, err)
	}
	if _, err := client.CallPort(context.Background(), p.Addr(), secret(8)); !errors.Is(err, ErrNoPort) {
		t.Errorf("a call with another secret: %v", err)
	}
	p.Close()
	if _, err := client.CallPort(context.Background(), p.Addr(), secret(7)); !errors.Is(err, ErrNoPort) {
		t.Errorf("a call to a closed port: %v", err)
	}
	if _, err := p.Accept(context.Background()); !errors.Is(err, ErrNoPort) {
		t.Errorf("accept at a closed port: %v", err)
	}
}

// X-DYN-01: whoever closes a port turns away the clients that wait there.
func TestClosedPortsTurnClientsAway(t *testing.T) {
	server, client := lone(t, limits{}), lone(t, limits{})
	p, err := server.OpenPort(secret(7), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	call, err := client.CallPort(context.Background(), p.Addr(), secret(7))
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	p.Close()
	if n, err := call.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes of a port that is closed", n)
	}
}

// X-DYN-01: a port is crowded while clients wait to be accepted, and at no other time.
func TestCrowdedPorts(t *testing.T) {
	server, client := lone(t, limits{}), lone(t, limits{})
	p, err := server.OpenPort(secret(7), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	short, end := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer end()
	p.Crowded(short, time.Millisecond, func() { t.Error("a port is crowded that nobody has called") })
	call, err := client.CallPort(context.Background(), p.Addr(), secret(7))
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	ctx, cancel := context.WithTimeout(context.Background(), testrun.Long)
	p.Crowded(ctx, time.Millisecond, cancel)
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error("a port is not crowded though a client waits")
	}
}

// S8, X-DYN-01: a process of another job that has been forgotten cannot call any more, and another one that has got its
// number is not taken for it.
func TestS8_ForgottenProcesses(t *testing.T) {
	f := lone(t, limits{penalty: time.Millisecond})
	in := wire.Between(secret(3), "x/0", "y/0")
	f.Introduce(1, Remote{Name: "x", Addr: "127.0.0.1:1", In: in, Out: wire.Between(secret(3), "y/0", "x/0")})
	if g := f.connector.guests(in.From); len(g) != 1 || !f.connector.is(g[0].visitor) {
		t.Fatal("a process that has been introduced is no guest")
	}
	old := f.connector.guests(in.From)[0].visitor
	f.Forget(1)
	if len(f.connector.guests(in.From)) != 0 || f.connector.is(old) {
		t.Error("a forgotten process may call")
	}
	f.Introduce(1, Remote{Name: "z", Addr: "127.0.0.1:1", In: wire.Between(secret(4), "z/0", "y/0")})
	if f.connector.is(old) || f.connector.admit(old) != 0 {
		t.Error("a forgotten process takes the place of the one that has its number")
	}
}

// X-DYN-01: two processes that meet by several ports at a time introduce each other in different orders, and one may have
// forgotten the other in between. A process reaches the other one by whichever introduction that still knows.
func TestXDYN01_CallsByEarlierIntroductions(t *testing.T) {
	a, b := lone(t, limits{}), lone(t, limits{})
	there := a.connector.ln.addr()
	remote := func(meeting byte, me, other, addr string) Remote {
		return Remote{Name: other, Addr: addr, First: me < other, Out: wire.Between(secret(meeting), me, other), In: wire.Between(secret(meeting), other, me)}
	}
	a.Introduce(1, remote(2, "a/0", "b/0", b.connector.ln.addr()))
	for meeting := byte(1); meeting <= 4; meeting++ { // a has forgotten all but the second
		b.Introduce(1, remote(meeting, "b/0", "a/0", there))
	}
	b.Reach(1)
	testrun.Until(t, "a process that is known by an earlier introduction is reached", func() bool {
		found := b.connector.take()
		for _, r := range found {
			if r.err != nil {
				t.Fatal(r.err)
			}
			r.close()
		}
		return len(found) > 0
	})
}

// X-DYN-01: a process gives up a call of another one, which it leaves, as long as that cannot have accepted it. From its
// proof on it waits for the verdict, and ends the connection by Leave: the other one would take its end for a death.
func TestXDYN01_CallsThatMayBeAccepted(t *testing.T) {
	for _, proves := range []bool{false, true} {
		f := lone(t, limits{})
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		pair := wire.Between(secret(1), "a/0", "b/0")
		f.Introduce(1, Remote{Name: "b", Addr: ln.Addr().String(), Sealed: true, Out: pair, In: wire.Between(secret(1), "b/0", "a/0")})
		f.Reach(1)
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		acceptor := wire.NewTagAcceptor(pair)
		var hello [wire.HelloSize]byte
		read(t, conn, hello[:])
		if _, err := acceptor.Hello(&hello); err != nil {
			t.Fatal(err)
		}
		if !proves {
			if !f.Forget(1) {
				t.Error("a process that cannot have accepted a call is not forgotten")
			}
			if b, err := io.ReadAll(conn); len(b) > 0 || err != nil {
				t.Errorf("a call that was given up goes on with %d bytes, %v", len(b), err)
			}
			continue
		}
		var challenge [wire.ChallengeSize]byte
		acceptor.Challenge(&challenge)
		conn.Write(challenge[:])
		var proof [wire.ProofSize]byte
		read(t, conn, proof[:])
		if err := acceptor.Proof(&proof); err != nil {
			t.Fatal(err)
		}
		leave := wire.Header{Kind: wire.Leave}
		if f.Forget(1) || f.Send(1, &leave, nil) {
			t.Fatal("a call is given up that may have been accepted")
		}
		var verdict [wire.VerdictSize]byte
		acceptor.Verdict(&verdict, wire.Accepted)
		conn.Write(verdict[:])
		s := newInbox(t)
		testrun.Until(t, "the connection is left", func() bool {
			f.Poll(s, -1)
			return f.Send(1, &leave, nil)
		})
		var h wire.Header
		var b []byte
		for n := 0; n == 0; {
			b = append(b, 0)
			read(t, conn, b[len(b)-1:])
			n, _, err = acceptor.Sealed().Open(bytes.Clone(b), &h)
			if err != nil {
				t.Fatal(err)
			}
		}
		if h.Kind != wire.Leave || len(s.downs) > 0 {
			t.Errorf("the first frame is of kind %d, and lost are %v", h.Kind, s.downs)
		}
	}
}

// read reads all of b.
func read(t *testing.T, conn net.Conn, b []byte) {
	t.Helper()
	if _, err := io.ReadFull(conn, b); err != nil {
		t.Fatal(err)
	}
}
