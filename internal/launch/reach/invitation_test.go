//go:build linux

package reach

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"io"
	"net"
	"reflect"
	"testing"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/wire"
)

// invite makes an invitation for two nodes, and the launcher's key.
func invite(t testing.TB) (*Invitation, *ecdh.PrivateKey) {
	t.Helper()
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	v := &Invitation{job: "7-abc", public: wire.PublicKey(own), Names: []string{"n1", "n2"}, addresses: []string{"10.0.0.1:5"}}
	rand.Read(v.key[:])
	return v, own
}

// changing is a connection that changes the last byte of what is written when it is on.
type changing struct {
	net.Conn
	on bool
}

func (c *changing) Write(b []byte) (int, error) {
	if c.on {
		b = append([]byte{}, b...)
		b[len(b)-1] ^= 1
	}
	return c.Conn.Write(b)
}

// meet connects a caller to the launcher. The results are those of call and answer.
func meet(v *Invitation, own *ecdh.PrivateKey, caller func(net.Conn) (*SealedStream, error)) (a, b *SealedStream, index int, callErr, answerErr error) {
	mine, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, callErr = caller(mine)
		if callErr != nil {
			mine.Close()
		}
	}()
	index, b, answerErr = v.Answer(theirs, own)
	if answerErr != nil {
		theirs.Close()
	}
	<-done
	return a, b, index, callErr, answerErr
}

// An invited agent and the launcher get a stream for bytes of any number, both ways.
func TestInvitedAgentsCall(t *testing.T) {
	v, own := invite(t)
	body := v.Encode()
	again, err := decodeInvitation(body[frame.HeadSize:])
	if err != nil || !reflect.DeepEqual(again, v) {
		t.Fatalf("%+v, %v", again, err)
	}
	a, b, index, callErr, answerErr := meet(v, own, func(c net.Conn) (*SealedStream, error) { return again.call(c, 1) })
	if callErr != nil || answerErr != nil || index != 1 {
		t.Fatalf("index %d, %v, %v", index, callErr, answerErr)
	}
	text := bytes.Repeat([]byte("0123456789"), 50000)
	for _, x := range [][2]*SealedStream{{a, b}, {b, a}} {
		go func() {
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 1+len(rest)/3)
				x[0].Write(rest[:n])
				rest = rest[n:]
			}
			x[0].Write([]byte("end"))
		}()
		got := make([]byte, len(text)+3)
		if _, err := io.ReadFull(x[1], got); err != nil || !bytes.Equal(got, append(text[:len(text):len(text)], "end"...)) {
			t.Fatalf("what arrives differs: %v", err)
		}
	}
}

// S3: who has not the key of the invitation, or another one's key, cannot call; and who is not the
// launcher gets no proof.
func TestStrangersCannotCall(t *testing.T) {
	v, own := invite(t)
	other, otherOwn := invite(t)
	stranger := *v
	stranger.key = other.key
	elsewhere := *v
	elsewhere.job = "another"
	impostor := *v
	impostor.public = other.public
	for name, caller := range map[string]func(net.Conn) (*SealedStream, error){
		"another key":     func(c net.Conn) (*SealedStream, error) { return stranger.call(c, 0) },
		"another job":     func(c net.Conn) (*SealedStream, error) { return elsewhere.call(c, 0) },
		"another node":    func(c net.Conn) (*SealedStream, error) { return v.call(c, 2) },
		"for an impostor": func(c net.Conn) (*SealedStream, error) { return impostor.call(c, 0) },
		"no key": func(c net.Conn) (*SealedStream, error) {
			c.Write(bytes.Repeat([]byte("A"), publicSize+wire.HelloSize))
			return nil, io.EOF
		},
		"text": func(c net.Conn) (*SealedStream, error) {
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			return nil, io.EOF
		},
	} {
		if _, _, _, callErr, answerErr := meet(v, own, caller); answerErr == nil || callErr == nil {
			t.Errorf("%s: %v, %v", name, callErr, answerErr)
		}
	}
	// An agent does not accept a launcher that has not the key of the invitation.
	mine, theirs := net.Pipe()
	go func() {
		other.Answer(theirs, otherOwn)
		theirs.Close()
	}()
	if _, err := v.call(mine, 0); err == nil {
		t.Error("an agent has called a stranger")
	}
	// Bytes that were changed on their way end the stream.
	var way *changing
	a, b, _, _, _ := meet(v, own, func(c net.Conn) (*SealedStream, error) {
		way = &changing{Conn: c}
		return v.call(way, 0)
	})
	way.on = true
	go a.Write([]byte("hello"))
	if n, err := b.Read(make([]byte, 10)); err == nil {
		t.Errorf("%d bytes of a changed piece were read", n)
	}
}

func FuzzInvitation(f *testing.F) {
	v, _ := invite(f)
	f.Add(v.Encode()[frame.HeadSize:])
	f.Add([]byte{1, 0, 'a'})
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := decodeInvitation(body)
		if err == nil && (len(v.Names) == 0 || !bytes.Equal(v.Encode()[frame.HeadSize:], body) && len(v.job) <= frame.MaxText && len(v.public) <= frame.MaxText) {
			t.Fatalf("%+v from %d bytes", v, len(body))
		}
	})
}
