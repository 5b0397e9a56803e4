package histories_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// The forms of sends; the first four block.
const (
	sendForms   = 14
	sendsFreed  = 12 // from this form on the request is freed at once
	settleWays  = 9
	recvForms   = 11
	blockedRecv = 7 // forms of receives below this complete at once, the others later
)

// nonblocking converts a form of send to one that does not wait.
func nonblocking(form int) int {
	if form < 3 {
		return form + 4
	}
	return form
}

// truncates reports whether a form of receive uses a buffer with a given length.
func truncates(form int) bool { return form != 1 }

// matched is the receipt of a message, which is checked at the end of the program.
type matched struct {
	by     *message // the message whose receive step it was, with its pattern and communicator
	id     int      // of the message that was received
	posted int      // order of the receives of the lane
}

// lane is the state of one goroutine of a rank that runs a program.
type lane struct {
	h       *twoSided
	rank, n int
	number  int
	comms   []*mpi.Comm
	pending []pending
	posted  int
	got     []matched
}

// pending is a request that the program has not waited for yet.
type pending struct {
	r      mpi.Request
	m      *message
	recv   bool
	buf    []byte
	posted int
}

// results are those of the lanes of all ranks of a program, stored when a lane ends.
var results sync.Map // by *twoSided: *sync.Map by [2]int{rank, lane}: []matched

// run runs the lanes of a rank.
func (h *twoSided) run(comms []*mpi.Comm, rank int) error {
	ended := make(chan error, h.lanes)
	all, _ := results.LoadOrStore(h, &sync.Map{})
	for number := range h.lanes {
		l := &lane{h: h, rank: rank, n: h.ranks, number: number, comms: comms}
		go func() {
			err := l.run()
			if err != nil {
				err = fmt.Errorf("lane %d: %w", number, err)
			}
			all.(*sync.Map).Store([2]int{rank, number}, l.got)
			ended <- err
		}()
	}
	for range h.lanes {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) run() error {
	for i, s := range l.h.steps[l.rank][l.number] {
		var err error
		switch s.do {
		case doSend:
			err = l.send(s.msg)
		case doRecv:
			err = l.recv(s.msg)
		case doSettle:
			last := i == len(l.h.steps[l.rank][l.number])-1
			err = l.settle(s.arg, last)
		case doCancel:
			err = l.cancelStray(s.arg)
		case doPause:
			if s.arg < 50 {
				runtime.Gosched()
			} else {
				time.Sleep(time.Duration(s.arg) * time.Microsecond)
			}
		case doCollective:
			err = l.collective(s.arg)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	if len(l.pending) > 0 {
		return fmt.Errorf("%d requests are left", len(l.pending))
	}
	return nil
}

// comm is the communicator of a message.
func (l *lane) comm(k int) *mpi.Comm {
	if k == sharedComms {
		return l.comms[sharedComms+l.number]
	}
	return l.comms[k]
}

// content is the payload of a message; if its receive is open, it contains the message's number.
func (m *message) content(seed uint64) []byte {
	b := payload(m.size, seed<<16+uint64(m.id))
	if m.open() {
		binary.LittleEndian.PutUint64(b, uint64(m.id))
	}
	return b
}

func (l *lane) send(m *message) error {
	c, dest := l.comm(m.comm), rankIn(m.comm, m.dst, l.n)
	b := m.content(l.h.seed)
	var r mpi.Request
	switch m.send {
	case 0, 1, 2, 3:
		err := []func(*mpi.Comm, []byte, int, int) error{mpi.Send[byte], mpi.Ssend[byte], mpi.Send[byte], mpi.Bsend[byte]}[m.send](c, b, dest, m.tag)
		clear(b)
		if err != nil {
			return fmt.Errorf("message %d: %w", m.id, err)
		}
		return nil
	case 4, 12:
		r = mpi.Isend(c, b, dest, m.tag)
	case 5, 13:
		r = mpi.Issend(c, b, dest, m.tag)
	case 6, 7:
		r = mpi.Ibsend(c, b, dest, m.tag)
	case 8:
		r = mpi.Isend(c, b, dest, m.tag)
	case 9, 10, 11:
		r = []func(*mpi.Comm, []byte, int, int) mpi.Request{mpi.SendInit[byte], mpi.SsendInit[byte], mpi.BsendInit[byte]}[m.send-9](c, b, dest, m.tag)
		if err := r.Start(); err != nil {
			return err
		}
	}
	if m.send >= sendsFreed {
		return r.Free()
	}
	l.pending = append(l.pending, pending{r: r, m: m, buf: b})
	return nil
}

// arguments are those of the receive of m.
func (l *lane) arguments(m *message) (source, tag int) {
	source, tag = rankIn(m.comm, m.src, l.n), m.tag
	if m.pattern == anySource || m.pattern == anyBoth {
		source = mpi.AnySource
	}
	if m.pattern == anyTag || m.pattern == anyBoth {
		tag = mpi.AnyTag
	}
	return source, tag
}

func (l *lane) recv(m *message) error {
	c := l.comm(m.comm)
	source, tag := l.arguments(m)
	p := pending{m: m, recv: true, posted: l.posted, buf: make([]byte, m.room)}
	l.posted++
	for i := range p.buf {
		p.buf[i] = 0xee
	}
	var st mpi.Status
	var err error
	switch m.recv {
	case 0:
		st, err = mpi.Recv(c, p.buf, source, tag)
	case 1:
		p.buf, st, err = mpi.RecvSlice[byte](c, source, tag)
	case 2:
		var msg mpi.Message
		msg, _, err = c.Mprobe(source, tag)
		if err == nil {
			st, err = mpi.Mrecv(&msg, p.buf)
		}
	case 3:
		var msg mpi.Message
		for found := false; !found && err == nil; {
			msg, _, found, err = c.Improbe(source, tag)
		}
		if err == nil {
			st, err = mpi.Mrecv(&msg, p.buf)
		}
	case 4:
		st, err = c.Probe(source, tag)
		if err == nil {
			st, err = mpi.Recv(c, p.buf, st.Source, st.Tag)
		}
	case 5:
		for found := false; !found && err == nil; {
			st, found, err = c.Iprobe(source, tag)
		}
		if err == nil {
			st, err = mpi.Recv(c, p.buf, st.Source, st.Tag)
		}
	case 6:
		r := mpi.Irecv(c, p.buf, source, tag)
		if err := r.Cancel(); err != nil {
			return err
		}
		st, err = r.Wait()
		if st.Cancelled() {
			if err != nil {
				return err
			}
			p.posted = l.posted // this receive counts, not the one before
			l.posted++
			st, err = mpi.Recv(c, p.buf, source, tag)
		}
	case 7, 8:
		p.r = mpi.Irecv(c, p.buf, source, tag)
	case 9:
		p.r = mpi.RecvInit(c, p.buf, source, tag)
		err = p.r.Start()
	case 10:
		var msg mpi.Message
		msg, _, err = c.Mprobe(source, tag)
		if err == nil {
			p.r = mpi.Imrecv(&msg, p.buf)
		}
	}
	if m.recv < blockedRecv {
		return l.completed(p, st, err)
	}
	l.pending = append(l.pending, p)
	return err
}

// completed checks the result of a request.
func (l *lane) completed(p pending, st mpi.Status, err error) error {
	m := p.m
	if !p.recv {
		clear(p.buf) // the program may write to it again
		if err != nil || st.Cancelled() {
			return fmt.Errorf("send of message %d: %w", m.id, err)
		}
		return nil
	}
	if m.open() && st.Bytes() >= 8 {
		id := int(binary.LittleEndian.Uint64(p.buf))
		if id < 1 || id > len(l.h.messages) {
			return fmt.Errorf("a receive from anybody has got message %d of %d", id, len(l.h.messages))
		}
		m = l.h.messages[id-1]
		if m.lane != l.number || m.comm != p.m.comm || m.dst != l.rank || p.m.pattern == anySource && m.tag != p.m.tag {
			return fmt.Errorf("receive of message %d has got message %d, which does not match it", p.m.id, id)
		}
	}
	l.got = append(l.got, matched{p.m, m.id, p.posted})
	room := len(p.buf)
	if m.size > room != errors.Is(err, mpi.ErrTruncate) || m.size <= room && err != nil {
		return fmt.Errorf("message %d of %d bytes into %d: %v", m.id, m.size, room, err)
	}
	n := min(m.size, room)
	if st.Source != rankIn(m.comm, m.src, l.n) || st.Tag != m.tag || st.Bytes() != int64(n) || st.Cancelled() {
		return fmt.Errorf("message %d: status is %+v, %d bytes; it was sent by %d with tag %d and %d bytes",
			m.id, st, st.Bytes(), rankIn(m.comm, m.src, l.n), m.tag, m.size)
	}
	if want := m.content(l.h.seed); string(p.buf[:n]) != string(want[:n]) {
		return fmt.Errorf("message %d of %d bytes: wrong payload", m.id, m.size)
	}
	for i, b := range p.buf[n:] {
		if b != 0xee {
			return fmt.Errorf("message %d of %d bytes: byte %d behind it is written", m.id, m.size, i)
		}
	}
	return nil
}

// cancelStray posts a receive that no message matches, and cancels it.
func (l *lane) cancelStray(comm int) error {
	r := mpi.Irecv(l.comms[comm], make([]byte, 8), mpi.AnySource, l.number*tagsOfLane+strayTag)
	if _, done, err := r.Test(); done {
		return fmt.Errorf("a receive that nothing matches is done: %w", err)
	}
	if err := r.Cancel(); err != nil {
		return err
	}
	if st, err := r.Wait(); err != nil || !st.Cancelled() {
		return fmt.Errorf("cancelled receive: %+v, %w", st, err)
	}
	return nil
}

func (l *lane) collective(what int) error {
	c := l.comms[0]
	if what == 0 {
		return c.Barrier()
	}
	sum := []int{0}
	if err := mpi.Allreduce(c, []int{l.rank + 1}, sum, mpi.Sum); err != nil {
		return err
	}
	if want := l.n * (l.n + 1) / 2; sum[0] != want {
		return fmt.Errorf("sum of ranks is %d, want %d", sum[0], want)
	}
	return nil
}

// settle completes pending requests, except sends whose receives are open; these only if all is
// true, at the end.
func (l *lane) settle(way int, all bool) error {
	var now, later []pending
	for _, p := range l.pending {
		if all || p.recv || !p.m.open() {
			now = append(now, p)
		} else {
			later = append(later, p)
		}
	}
	l.pending = later
	rs := make([]mpi.Request, 0, len(now)+1)
	for _, p := range now {
		rs = append(rs, p.r)
	}
	rs = append(rs, mpi.Request{}) // a null request among the others
	var problem error
	left := len(now)
	note := func(i int, st mpi.Status, err error) {
		left--
		if e := l.completed(now[i], st, err); e != nil && problem == nil {
			problem = e
		}
	}
	idx, sts := make([]int, len(rs)), make([]mpi.Status, len(rs))
	for left > 0 && problem == nil {
		switch way {
		case 0:
			for i := range now {
				st, err := rs[i].Wait()
				note(i, st, err)
			}
		case 1:
			mpi.Waitall(rs, sts)
			for i := range now {
				note(i, sts[i], sts[i].Err)
			}
		case 2:
			if i, st, err := mpi.Waitany(rs); i >= 0 {
				note(i, st, err)
			}
		case 3:
			k, _ := mpi.Waitsome(rs, idx, sts)
			for j := range max(k, 0) {
				note(idx[j], sts[j], sts[j].Err)
			}
		case 4:
			for i := range now {
				for done := false; !done; {
					var st mpi.Status
					var err error
					st, done, err = rs[i].Test()
					if done {
						note(i, st, err)
					}
				}
			}
		case 5:
			if done, _ := mpi.Testall(rs, sts); done {
				for i := range now {
					note(i, sts[i], sts[i].Err)
				}
			}
		case 6:
			if i, st, done, err := mpi.Testany(rs); done && i >= 0 {
				note(i, st, err)
			}
		case 7:
			k, _ := mpi.Testsome(rs, idx, sts)
			for j := range max(k, 0) {
				note(idx[j], sts[j], sts[j].Err)
			}
		case 8:
			for i := range now {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), 50*time.Microsecond)
					st, err := rs[i].WaitContext(ctx)
					cancel()
					if err != context.DeadlineExceeded {
						note(i, st, err)
						break
					}
				}
			}
		}
	}
	for i := range now { // persistent requests remain
		if !rs[i].IsNull() {
			if err := rs[i].Free(); err != nil && problem == nil {
				problem = err
			}
		}
	}
	return problem
}
