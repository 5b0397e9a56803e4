package benchmark

import (
	"errors"

	"github.com/halo-mpi/halo/mpi"
)

// notifying measures half a round trip of notified puts, as latency does for messages: the
// target waits for the notification with a request, after which the data is in its memory.
func notifying(world *mpi.Comm, p *Plan, size int, report *Report) error {
	win, err := mpi.WinAllocate[byte](world, size)
	if err != nil {
		return err
	}
	if err := errors.Join(win.NotifySetNum(1), win.LockAll(0)); err != nil {
		return err
	}
	peer, data := 1-world.Rank(), make([]byte, size)
	arrived := win.NotifyInit(0, 1)
	await := func() error {
		if err := arrived.Start(); err != nil {
			return err
		}
		_, err := arrived.Wait()
		return err
	}
	us, err := p.measure(world, func(n int) error {
		for range n {
			if world.Rank() == 1 {
				if err := await(); err != nil {
					return err
				}
			}
			if err := win.PutNotify(data, peer, 0, 0); err != nil {
				return err
			}
			if world.Rank() == 0 {
				if err := await(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size, US: us / 2}); err != nil {
		return err
	}
	return errors.Join(arrived.Free(), win.UnlockAll(), win.Free())
}
