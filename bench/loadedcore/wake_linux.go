package main

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// A sleeper is a thread that sleeps until another one wakes it, again and again.
type sleeper struct {
	word  atomic.Uint32 // the sleeper stores 0 and sleeps while it is 0; the waker stores 1
	round atomic.Int64  // in which the sleeper is about to sleep, from 1, or over; the waker waits for it
	rang  atomic.Int64  // when the waker stored word, nanoseconds after began
	began time.Time
}

// over is the round of a sleeper that sleeps no more.
const over = -1

// sleep sleeps at most n times, computes for a time after each, and returns how long it took to be woken.
func (s *sleeper) sleep(n int, busy time.Duration) (woken []time.Duration) {
	defer s.round.Store(over)
	for i := range n {
		if time.Since(s.began) > most {
			break
		}
		s.word.Store(0)
		s.round.Store(int64(i + 1))
		for s.word.Load() == 0 {
			sys.FutexWaitPrivate(&s.word, 0)
		}
		woken = append(woken, time.Since(s.began)-time.Duration(s.rang.Load()))
		spin(busy)
	}
	return woken
}

// wake wakes the sleeper each time when it has been asleep for a time, and returns how long the calls took.
func (s *sleeper) wake(asleep time.Duration) (calls []time.Duration) {
	for i := int64(1); ; i++ {
		round := s.round.Load()
		for ; round != i && round != over; round = s.round.Load() {
		}
		if round == over {
			return calls
		}
		spin(asleep)
		rang := time.Since(s.began)
		s.rang.Store(int64(rang))
		s.word.Store(1)
		sys.FutexWakePrivate(&s.word, 1)
		calls = append(calls, time.Since(s.began)-rang)
	}
}

// wakeUps measures wake-ups of a thread on the measured core by one on another core. There are none with one core.
func (p *plan) wakeUps(asleep, busy time.Duration) (woken, calls []time.Duration, err error) {
	if len(p.cores) < 2 {
		return nil, nil, nil
	}
	s := &sleeper{began: time.Now()}
	ended := make(chan error, 1)
	go func() {
		ended <- onCore(p.cores[0], func() error {
			calls = s.wake(asleep)
			return nil
		})
	}()
	err = onCore(p.measured(), func() error {
		woken = s.sleep(p.few, busy)
		return nil
	})
	s.round.Store(over)
	return woken, calls, errors.Join(err, <-ended)
}

// touched is the memory that a thread touches after it has been moved.
const touched = 256 << 10

// touch reads and writes each cache line of the memory.
func touch(b []byte) {
	for i := 0; i < len(b); i += 64 {
		b[i]++
	}
}

// moved measures a thread that is moved to another core: the move, and the first run over memory that the caches of the
// other core do not hold.
func moved(p *plan) ([]row, error) {
	rows := []row{{what: "touch 256 KiB again on the same core"}, {what: "move to an idle core"}, {what: "  touch the 256 KiB there"}}
	if len(p.cores) < 2 {
		return rows, nil
	}
	mem := make([]byte, touched)
	measured := func(r *row, f func() error) error {
		began := time.Now()
		err := f()
		r.samples = append(r.samples, time.Since(began))
		return err
	}
	pass := func() error { touch(mem); return nil }
	return rows, onCore(p.cores[0], func() error {
		for i := range p.moves {
			for range 10 {
				touch(mem)
			}
			measured(&rows[0], pass)
			to := p.cores[0]
			if i%2 == 0 {
				to = p.measured()
			}
			if err := measured(&rows[1], func() error { return sys.BindThread([]int{to}) }); err != nil {
				return err
			}
			measured(&rows[2], pass)
		}
		return nil
	})
}
