package coll_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// Random programs of collectives, on one host and several, also run correctly in checking mode:
// the members find no error.
func TestRandomHistoriesInCheckingMode(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	steps := 40
	if testrun.Race {
		steps = 20
	}
	for i, fabric := range []string{"inproc", "shm", "tcp", "inproc", "shm@001", "tcp@0101", "inproc@00110"} {
		n := 2 + i%4
		if _, places, ok := strings.Cut(fabric, "@"); ok {
			n = len(places)
		}
		seed := uint64(100 + i)
		run(t, fabric, n, auto(), func(w *world.World) error {
			h := &history{w: w, own: rand.New(rand.NewPCG(seed, 1000+uint64(w.Comm.Rank)))}
			if err := h.run(seed, steps); err != nil {
				return fmt.Errorf("seed %d over %s: %w", seed, fabric, err)
			}
			return nil
		})
	}
}

// S6: if a member sends random records, the collective fails at the others with a class of the
// standard and a printable text, and nothing else fails.
func TestS6_MembersThatTellNonsense(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		run(t, fabric, 2, auto(), func(w *world.World) error {
			c, err := w.Coll.Dup(w.Comm)
			if err != nil {
				return err
			}
			g := rand.New(rand.NewPCG(3, 4))
			for turn := range int32(50) {
				if c.Rank == 0 {
					err := w.Coll.Bcast(c, make([]byte, 100), dtype.Mixed, 1)
					var e *class.Error
					if !errors.As(err, &e) || strings.ContainsFunc(e.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
						return fmt.Errorf("the collective ends with %q", err)
					}
					if name, _ := class.Describe(e.Class); name == "" || e.Class == class.Success {
						return fmt.Errorf("error of class %d: %w", e.Class, err)
					}
					continue
				}
				w.Proc.Lock()
				for _, n := range []int{agree.RecordSize, agree.FindingSize} {
					b := make([]byte, n)
					for i := range b {
						b[i] = byte(g.Uint32() | 1)
					}
					r := w.P2P.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx + 1, Tag: turn + 1}, mem.Of(b)) // the first tag is 1
					w.P2P.Wait(r)
					w.P2P.Free(r)
					in := make([]byte, n)
					r = w.P2P.Irecv(&p2p.Envelope{Comm: c, Ctx: c.Ctx + 1, Tag: turn + 1}, mem.Of(in))
					w.P2P.Wait(r)
					w.P2P.Free(r)
				}
				w.Proc.Unlock()
			}
			return nil
		})
	}
}
