//go:build unix

package launch

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// A carrier sends the content of a file. It is never more than streamCredit bytes ahead of what
// the receiver has consumed (flow control).
type carrier struct {
	file *os.File
	send func(b []byte)
	end  func()

	mu     sync.Mutex
	room   int
	closed bool
	more   chan struct{}
}

func newCarrier(file *os.File, send func([]byte), end func()) *carrier {
	return &carrier{file: file, send: send, end: end, room: streamCredit, more: make(chan struct{}, 1)}
}

// run carries everything until the end of the file.
func (c *carrier) run() {
	defer c.end()
	defer c.file.Close()
	buf := make([]byte, piece)
	for {
		c.mu.Lock()
		room := c.room
		c.mu.Unlock()
		if room == 0 {
			<-c.more
			continue
		}
		n, err := c.file.Read(buf[:min(room, len(buf))])
		if n > 0 {
			c.mu.Lock()
			c.room -= n
			again := c.closed
			c.mu.Unlock()
			if again { // more output may follow at once
				c.file.SetReadDeadline(time.Now().Add(closingDelay))
			}
			c.send(buf[:n])
		}
		if n == 0 && err != nil {
			return
		}
	}
}

// took is called when the receiver has consumed n bytes.
func (c *carrier) took(n int) {
	c.mu.Lock()
	c.room = min(c.room+max(n, 0), streamCredit)
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// close is called when the writers of the file have ended: reading ends when closingDelay passes
// without output, even if another process has the file open.
func (c *carrier) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.file.SetReadDeadline(time.Now().Add(closingDelay))
}

// A feed is the receiving end of a carrier: a stream whose bytes arrive in frames.
type feed struct {
	took func(n int) // called with the number of bytes that were read

	mu       sync.Mutex
	buf      []byte
	ended    bool
	deadline time.Time
	wake     chan struct{}
}

func newFeed(took func(int)) *feed { return &feed{took: took, wake: make(chan struct{}, 1)} }

// add appends bytes. It returns an error for more than streamCredit, which no carrier sends.
func (f *feed) add(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buf)+len(b) > streamCredit {
		return errors.New("the stream has more bytes than its credit allows")
	}
	f.buf = append(f.buf, b...)
	f.signal()
	return nil
}

// finish ends the stream after the bytes that it holds.
func (f *feed) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Read reads bytes that have arrived, like a read of a pipe.
func (f *feed) Read(b []byte) (int, error) {
	for {
		f.mu.Lock()
		n := copy(b, f.buf)
		f.buf = f.buf[:copy(f.buf, f.buf[n:])]
		ended, deadline := f.ended, f.deadline
		f.mu.Unlock()
		var late <-chan time.Time
		switch {
		case n > 0:
			f.took(n)
			return n, nil
		case ended:
			return 0, io.EOF
		case !deadline.IsZero():
			left := time.Until(deadline)
			if left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			late = time.After(left)
		}
		select {
		case <-f.wake:
		case <-late:
		}
	}
}

// SetReadDeadline bounds reads, including a read in progress.
func (f *feed) SetReadDeadline(t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = t
	f.signal()
	return nil
}

// Close ends the stream for its reader.
func (f *feed) Close() error {
	f.finish()
	return nil
}
