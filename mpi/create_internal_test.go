package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// A duplicate that a copy callback prevents in one process releases its slot, and so do the
// other members' duplicates when they are freed.
func TestATT03_CopyFailsAndSlotsComeBack(t *testing.T) {
	refused := errors.New("refused")
	for _, fabric := range []string{"inproc", "shm"} {
		err := internals{}.RunOver(fabric, 3, func(c *Comm) error {
			key := CreateKeyval(func(c *Comm, v int) (int, bool, error) {
				if c.Rank() == 1 {
					return 0, false, refused
				}
				return v, true, nil
			}, nil)
			if err := SetAttr(c, key, 1); err != nil {
				return err
			}
			for i := range 2 * shmfmt.SlotCount {
				var d *Comm
				var err error
				if i%2 == 0 {
					d, err = c.Dup()
				} else {
					var r Request
					d, r = c.Idup()
					_, err = r.Wait()
				}
				if c.Rank() == 1 {
					if d != nil || !errors.Is(err, refused) {
						return fmt.Errorf("duplicate %d is %v (%w)", i, d, err)
					}
				} else {
					err = errors.Join(err, d.Free())
					if err != nil {
						return err
					}
				}
			}
			// What rank 1 has dropped may still be in progress. It ends before a duplicate that
			// is begun later.
			if err := DeleteAttr(c, key); err != nil {
				return err
			}
			d, r := c.Idup()
			if _, err := r.Wait(); err != nil {
				return err
			}
			if err := errors.Join(d.Free(), c.Barrier()); err != nil {
				return err
			}
			for i := 1; i < shmfmt.SlotCount; i++ {
				s, err := c.w.Proc.Node().Control().OpenSlot(i)
				if err != nil {
					return err
				}
				if owner := s.Head().Owner.Load(); owner != 0 {
					return fmt.Errorf("slot %d still belongs to context %#x", i, owner)
				}
			}
			return c.Barrier()
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}
