package wire

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"testing"
)

// Two processes meet over a connection, and long and short texts arrive on the stream as they were sent.
func TestXLCH01_StreamsAfterMeeting(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	type end struct {
		stream *Stream
		err    error
	}
	met := make(chan end)
	go func() {
		s, err := Meet(a, testPair(1, 2))
		met <- end{NewStream(a, s), err}
	}()
	from, seal, err := Welcome(b, 3, func(int) (Pair, error) { return testPair(0, 2), nil })
	if err != nil || from != 1 {
		t.Fatal(from, err)
	}
	dialler := <-met
	if dialler.err != nil {
		t.Fatal(dialler.err)
	}
	acceptor := NewStream(b, seal)
	for _, size := range []int{1, 1000, PieceMax, 3*PieceMax + 7} {
		text := make([]byte, size)
		rand.Read(text)
		go dialler.stream.Write(text)
		got := make([]byte, size)
		if _, err := io.ReadFull(acceptor, got); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// A caller with another secret, or one that the acceptor does not know, gets no byte.
func TestS2_StrangersDoNotMeet(t *testing.T) {
	for name, refuse := range map[string]error{"another secret": nil, "unknown": ErrRefused} {
		a, b := net.Pipe()
		done := make(chan error)
		go func() {
			p := testPair(1, 2)
			p.Secret[0]++
			_, err := Meet(a, p)
			a.Close()
			done <- err
		}()
		if _, _, err := Welcome(b, 3, func(int) (Pair, error) { return testPair(0, 2), refuse }); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		b.Close()
		if err := <-done; err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
}
