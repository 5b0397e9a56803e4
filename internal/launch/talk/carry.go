//go:build unix

package talk

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// endingDelay is how long a carrier waits for more output of processes that have outlived the job's ranks and keep its
// file open. It is as long as that of the launcher's streams.
const endingDelay = 500 * time.Millisecond

// A Carrier sends the content of a file. It is never more than StreamCredit bytes ahead of what
// the receiver has consumed (flow control).
type Carrier struct {
	file *os.File
	send func(b []byte)
	end  func()

	mu     sync.Mutex
	room   int
	closed bool
	more   chan struct{}
}

// NewCarrier makes a Carrier of a file, which it closes. It calls send with pieces of the content, and end at the end.
func NewCarrier(file *os.File, send func([]byte), end func()) *Carrier {
	return &Carrier{file: file, send: send, end: end, room: StreamCredit, more: make(chan struct{}, 1)}
}

// Run carries everything until the end of the file.
func (c *Carrier) Run() {
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
				c.file.SetReadDeadline(time.Now().Add(endingDelay))
			}
			c.send(buf[:n])
		}
		if n == 0 && err != nil {
			return
		}
	}
}

// Took is called when the receiver has consumed n bytes.
func (c *Carrier) Took(n int) {
	c.mu.Lock()
	c.room = min(c.room+max(n, 0), StreamCredit)
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// Close is called when the writers of the file have ended: reading ends when endingDelay passes
// without output, even if another process has the file open.
func (c *Carrier) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.file.SetReadDeadline(time.Now().Add(endingDelay))
}

// A Feed is the receiving end of a carrier: a stream whose bytes arrive in frames.
type Feed struct {
	took func(n int) // called with the number of bytes that were read

	mu       sync.Mutex
	buf      []byte
	ended    bool
	deadline time.Time
	wake     chan struct{}
}

// NewFeed makes a Feed that calls took with the number of bytes that were read.
func NewFeed(took func(int)) *Feed { return &Feed{took: took, wake: make(chan struct{}, 1)} }

// Add appends bytes. It returns an error for more than StreamCredit, which no carrier sends.
func (f *Feed) Add(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buf)+len(b) > StreamCredit {
		return errors.New("the stream has more bytes than its credit allows")
	}
	f.buf = append(f.buf, b...)
	f.signal()
	return nil
}

// Finish ends the stream after the bytes that it holds.
func (f *Feed) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.signal()
}

func (f *Feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Read reads bytes that have arrived, like a read of a pipe.
func (f *Feed) Read(b []byte) (int, error) {
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
func (f *Feed) SetReadDeadline(t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = t
	f.signal()
	return nil
}

// Close ends the stream for its reader.
func (f *Feed) Close() error {
	f.Finish()
	return nil
}
