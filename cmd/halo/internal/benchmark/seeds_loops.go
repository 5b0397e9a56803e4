package benchmark

import (
	"errors"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// The functions below return the loops of the experiments, which rank 0 runs.

func (s *seeds) putFlush(win mpi.Win[byte], base, size int) func(n int) error {
	data := s.send[:size]
	return func(n int) error {
		for range n {
			if err := win.Put(data, 1, base); err != nil {
				return err
			}
			if err := win.Flush(1); err != nil {
				return err
			}
		}
		return nil
	}
}

// putByNewHandle is putFlush with a window that each iteration makes from a handle and frees.
func (s *seeds) putByNewHandle(size int) func(n int) error {
	data := s.send[:size]
	return func(n int) error {
		for range n {
			win, err := mpi.WinFromMemhandle[byte](s.dynamic.Window, s.bytes, 1)
			if err != nil {
				return err
			}
			if err := errors.Join(win.Put(data, 1, 0), win.Flush(1), win.Free()); err != nil {
				return err
			}
		}
		return nil
	}
}

// puts puts n times and flushes once.
func (s *seeds) puts(win mpi.Win[byte], size int) func(n int) error {
	data := s.send[:size]
	return func(n int) error {
		for range n {
			if err := win.Put(data, 1, 0); err != nil {
				return err
			}
		}
		return win.Flush(1)
	}
}

// putInWorkers is putFlush in several goroutines at the same time, each with its own window and
// target location.
func (s *seeds) putInWorkers(wins []mpi.Win[byte], workers, size int) func(n int) error {
	errs := make([]error, workers)
	return func(n int) error {
		var others sync.WaitGroup
		for w := 1; w < workers; w++ {
			others.Go(func() { errs[w] = s.putFlush(wins[w], w*max(size, cell), size)(n) })
		}
		errs[0] = s.putFlush(wins[0], 0, size)(n)
		others.Wait()
		return errors.Join(errs...)
	}
}

func (s *seeds) fetch(win mpi.Win[byte]) func(n int) error {
	numbers := mpi.Win[int64](win)
	one, before := new(int64), new(int64)
	*one = 1
	return func(n int) error {
		for range n {
			if err := numbers.FetchAndOp(one, before, 1, 0, mpi.Sum); err != nil {
				return err
			}
			if err := numbers.Flush(1); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *seeds) accumulate(win mpi.Win[byte], size int) func(n int) error {
	numbers := mpi.Win[int64](win)
	data := make([]int64, size/8)
	return func(n int) error {
		for range n {
			if err := numbers.Accumulate(data, 1, 0, mpi.Sum); err != nil {
				return err
			}
			if err := numbers.Flush(1); err != nil {
				return err
			}
		}
		return nil
	}
}

// usefulWork is the work that the listings do while they wait; a call takes about 20 ns.
func usefulWork(x *uint64) {
	for range 20 {
		*x = *x*6364136223846793005 + 1442695040888963407
	}
}

// listing is the paper's listing 1, with a flush between the put and the signal, or
// listing 2 without. After the loop the signals are flushed once.
func (s *seeds) listing(win mpi.Win[byte], size int, flush bool) func(n int) error {
	numbers := mpi.Win[int64](win)
	data, one := s.send[:size], []int64{1}
	work := new(uint64)
	test := func(r *mpi.Request) error {
		for {
			usefulWork(work)
			if _, done, err := r.Test(); done || err != nil {
				return err
			}
		}
	}
	return func(n int) error {
		for range n {
			if flush {
				r := win.Rput(data, 1, 64)
				if err := test(&r); err != nil {
					return err
				}
				if err := win.Flush(1); err != nil {
					return err
				}
			} else if err := win.Put(data, 1, 64); err != nil {
				return err
			}
			r := numbers.Raccumulate(one, 1, 0, mpi.Sum)
			if err := test(&r); err != nil {
				return err
			}
		}
		return win.Flush(1)
	}
}
