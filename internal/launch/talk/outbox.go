//go:build unix

package talk

import (
	"io"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
)

// An Outbox writes frames in the order in which they are sent, without making
// the sender wait.
type Outbox struct {
	to io.Writer

	mu     sync.Mutex
	queue  []byte
	moving bool
	more   chan struct{}
	broken bool
}

// NewOutbox makes an Outbox, and the goroutine that writes.
func NewOutbox(to io.Writer) *Outbox {
	o := &Outbox{to: to, more: make(chan struct{}, 1)}
	go o.run()
	return o
}

// Beat sends heartbeats until the outbox is closed. They do not depend on what else this process does.
func (o *Outbox) Beat() {
	var late lateness
	for range time.Tick(BeatInterval) {
		if o.closed() {
			return
		}
		late.tick(time.Now())
		o.Send(frame.New(KindBeat).U32(uint32(late.worst.Milliseconds())).Bytes())
	}
}

// closed reports whether Close was called, or nothing can be written any more.
func (o *Outbox) closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

// Send queues a frame.
func (o *Outbox) Send(frame []byte) {
	o.mu.Lock()
	if !o.broken {
		o.queue = append(o.queue, frame...)
	}
	o.mu.Unlock()
	o.wake()
}

func (o *Outbox) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *Outbox) run() {
	for range o.more {
		for {
			o.mu.Lock()
			batch := o.queue
			o.queue = nil
			o.moving = len(batch) > 0
			broken := o.broken
			o.mu.Unlock()
			if broken {
				return
			}
			if len(batch) == 0 {
				break
			}
			if _, err := o.to.Write(batch); err != nil { // the reader will detect the end as well
				o.Close()
			}
		}
	}
}

// Flush waits until everything has been written, or some time has passed.
func (o *Outbox) Flush(timeout time.Duration) {
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		o.mu.Lock()
		done := o.broken || len(o.queue) == 0 && !o.moving
		o.mu.Unlock()
		if done {
			return
		}
	}
}

// Close drops the frames that are left and all later ones.
func (o *Outbox) Close() {
	o.mu.Lock()
	o.broken, o.queue = true, nil
	o.mu.Unlock()
	o.wake()
}
