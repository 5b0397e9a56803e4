package benchmark

import (
	"errors"
	"sync"
)

// The loops of one-sided communication. Where only rank 0 is named, rank 1 has gone on
// to the barrier behind the loop, and waits there: it is attentive.

func (o *onesided) putFlush(n int) error {
	if o.rank != 0 {
		return nil
	}
	win, data, base := o.win, o.send[:o.size], o.base
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

// putStream puts n times window times, and flushes each window.
func (o *onesided) putStream(n int) error {
	if o.rank != 0 {
		return nil
	}
	win, data, base := o.win, o.send[:o.size], o.base
	for range n {
		for range window {
			if err := win.Put(data, 1, base); err != nil {
				return err
			}
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

func (o *onesided) getFlush(n int) error {
	if o.rank != 0 {
		return nil
	}
	win, data, base := o.win, o.recv[:o.size], o.base
	for range n {
		if err := win.Get(data, 1, base); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

func (o *onesided) getStream(n int) error {
	if o.rank != 0 {
		return nil
	}
	win, data, base := o.win, o.recv[:o.size], o.base
	for range n {
		for range window {
			if err := win.Get(data, 1, base); err != nil {
				return err
			}
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

// fenceEpochs stands between two fences.
func (o *onesided) fenceEpochs(n int) error {
	data := o.send[:o.size]
	for range n {
		if o.rank == 0 {
			if err := o.win.Put(data, 1, o.base); err != nil {
				return err
			}
		}
		if err := o.win.Fence(0); err != nil {
			return err
		}
	}
	return nil
}

func (o *onesided) pscwEpochs(n int) error {
	data := o.send[:o.size]
	for range n {
		if o.rank == 0 {
			if err := o.win.Start(o.other, 0); err != nil {
				return err
			}
			if err := o.win.Put(data, 1, o.base); err != nil {
				return err
			}
			if err := o.win.Complete(); err != nil {
				return err
			}
		} else {
			if err := o.win.Post(o.other, 0); err != nil {
				return err
			}
			if err := o.win.Wait(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *onesided) lockEpochs(n int) error {
	if o.rank != 0 {
		return nil
	}
	data := o.send[:o.size]
	for range n {
		if err := o.win.Lock(o.lock, 1, 0); err != nil {
			return err
		}
		if err := o.win.Put(data, 1, o.base); err != nil {
			return err
		}
		if err := o.win.Unlock(1); err != nil {
			return err
		}
	}
	return nil
}

func (o *onesided) lockGetEpochs(n int) error {
	if o.rank != 0 {
		return nil
	}
	data := o.recv[:o.size]
	for range n {
		if err := o.win.Lock(o.lock, 1, 0); err != nil {
			return err
		}
		if err := o.win.Get(data, 1, o.base); err != nil {
			return err
		}
		if err := o.win.Unlock(1); err != nil {
			return err
		}
	}
	return nil
}

// rputWait puts with a request, n times, and flushes at the end.
func (o *onesided) rputWait(n int) error {
	if o.rank != 0 {
		return nil
	}
	data := o.send[:o.size]
	for range n {
		q := o.win.Rput(data, 1, o.base)
		if _, err := q.Wait(); err != nil {
			return err
		}
	}
	return o.win.Flush(1)
}

// putInWorkers puts one byte and flushes n times in each worker, all at once.
func (o *onesided) putInWorkers(n int) error {
	if o.rank != 0 {
		return nil
	}
	var others sync.WaitGroup
	for w := 1; w < o.workers; w++ {
		others.Go(func() { o.errs[w] = o.putBytes(w, n) })
	}
	o.errs[0] = o.putBytes(0, n)
	others.Wait()
	return errors.Join(o.errs[:]...)
}

func (o *onesided) putBytes(worker, n int) error {
	win, data, at := o.win, o.send[:1], o.base+worker*cell
	if o.dups != nil {
		win = o.dups[worker]
	}
	for range n {
		if err := win.Put(data, 1, at); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}
