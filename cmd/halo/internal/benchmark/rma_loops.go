package benchmark

// The loops of one-sided communication. In a loop of rank 0 only, rank 1 waits in the
// barrier after the loop meanwhile, and makes progress there.

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

// putStream makes n times window puts and a flush.
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

// fenceEpochs runs n epochs between fences.
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
