//go:build unix

package launch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

const (
	// firstBuffer is the initial size of a stream's buffer in bytes: most ranks of a
	// large job write little.
	firstBuffer = 4 << 10
	// lineBuffer is the longest line that is collected before it is
	// written, in bytes. A rank with a longer line locks the output until the line
	// ends.
	lineBuffer = 1 << 20
	// promptDelay is how long an unfinished line waits on a terminal.
	promptDelay = 100 * time.Millisecond
	// closingDelay is how long a stream waits for more output of processes that
	// have outlived the job's ranks and keep its pipe open.
	closingDelay = 500 * time.Millisecond
)

// A source is the origin of a rank's output: a pipe, or a feed from another host.
type source interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// A stream carries stdout or stderr of one rank to a sink.
type stream struct {
	pipe source
	sink *sink
	tag  string

	stamp bool // the time comes before the tag

	buf       []byte // read and not yet written; the start of a line
	continued bool   // the start of the line in buf has been written before
	exclusive bool   // sink.mu is held until the line ends
	closing   atomic.Bool
	errors    bool    // it is stderr, which is searched for symptoms
	symptom   symptom // of a limit; read when copy has returned
	seen      []byte  // the end of the text that look has searched
}

// copy carries everything until the end of the pipe.
func (s *stream) copy() {
	defer s.pipe.Close()
	s.buf = make([]byte, 0, firstBuffer)
	for {
		if len(s.buf) == cap(s.buf) {
			s.full()
		}
		n, err := s.read()
		s.took(n)
		if err != nil {
			break
		}
	}
	s.write(s.buf)
	s.release()
}

// read reads once; a timeout before close is no error.
func (s *stream) read() (int, error) {
	if s.sink.terminal && len(s.buf) > 0 {
		s.pipe.SetReadDeadline(time.Now().Add(promptDelay))
	} else if s.sink.terminal {
		s.pipe.SetReadDeadline(time.Time{})
	}
	closing := s.closing.Load() // loaded after the calls above, which may replace close's deadline
	if closing {
		s.pipe.SetReadDeadline(time.Now().Add(closingDelay))
	}
	n, err := s.pipe.Read(s.buf[len(s.buf):cap(s.buf)])
	if errors.Is(err, os.ErrDeadlineExceeded) && (!closing || n > 0) {
		if !s.closing.Load() { // promptDelay has passed: the line may be a prompt
			s.write(s.buf)
			s.buf = s.buf[:0]
		}
		err = nil
	}
	return n, err
}

// close is called when no rank of the job is left: the stream ends when closingDelay passes without output.
func (s *stream) close() {
	s.closing.Store(true)
	s.pipe.SetReadDeadline(time.Now()) // wakes a read in progress
}

// took writes the whole lines in the buffer after n bytes were added. On a terminal a
// carriage return ends a line, too: programs use it to show progress.
func (s *stream) took(n int) {
	old := len(s.buf)
	s.buf = s.buf[:old+n]
	end := old + bytes.LastIndexByte(s.buf[old:], '\n') + 1
	if end == old && s.sink.terminal && n > 1 {
		// Not the last byte: a newline may follow it.
		end = old + bytes.LastIndexByte(s.buf[old:old+n-1], '\r') + 1
	}
	if end == old {
		return
	}
	s.write(s.buf[:end])
	if s.buf[end-1] == '\n' {
		s.release()
	}
	s.buf = s.buf[:copy(s.buf, s.buf[end:])]
}

// full enlarges a full buffer, or locks the output for this rank if the buffer has the greatest
// size.
func (s *stream) full() {
	if cap(s.buf) < lineBuffer {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
		return
	}
	if !s.exclusive {
		s.sink.mu.Lock()
		s.exclusive = true
	}
	s.write(s.buf)
	s.buf = s.buf[:0]
}

// release unlocks the output after the end of a long line.
func (s *stream) release() {
	if s.exclusive {
		s.exclusive = false
		s.sink.mu.Unlock()
	}
}

func (s *stream) write(text []byte) {
	if len(text) == 0 {
		return
	}
	if s.errors {
		s.look(text)
	}
	if !s.exclusive {
		s.sink.mu.Lock()
		defer s.sink.mu.Unlock()
	}
	if s.continued && (s.exclusive || s.sink.open == s) { // the rest of a line has no tag
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		s.sink.put(s, append(append([]byte(nil), text[:end]...), tagged(s.prefix(), text[end:])...))
	} else {
		s.sink.put(s, tagged(s.prefix(), text))
	}
	s.continued = text[len(text)-1] != '\n'
}
