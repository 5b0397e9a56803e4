package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// In checking mode correct messages cause no errors or reports (DT-16).
func TestCheckingAcceptsRandomLayouts(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	count := 20
	if testrun.Race {
		count = 4
	}
	runAll(t, onFabrics("00", 5000, count), layoutsBatch, runExchanges)
}

// In checking mode a message with another sequence of basic types is ErrType, even if the
// sequences differ in only one place, whatever the layouts; its bytes arrive (DT-16).
func TestCheckingFindsOneOtherType(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	messages := 60
	if testrun.Race {
		messages = 15
	}
	var all [][2]half
	for seed := uint64(0); len(all) < messages; seed++ {
		if send, recv, ok := mismatch(rand.New(rand.NewPCG(seed, 4))); ok {
			all = append(all, [2]half{send, recv})
		}
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for i, h := range all {
			if err := sendMismatch(c, &h[0], &h[1], uint64(i)); err != nil {
				t.Fatalf("message %d, rank %d: %v\n%v\n%v", i, c.Rank(), err, &h[0], &h[1])
			}
		}
	})
}

// mismatch makes two layouts whose sequences differ in one basic type, which is replaced by
// another one of the same size.
func mismatch(r *rand.Rand) (send, recv half, ok bool) {
	integers := map[int64]dtype.ID{2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64, 16: dtype.Integer16}
	m := dtypetest.Generator{}.Spec(r, 1+r.IntN(4)).Typemap(types, 300)
	if m == nil || len(m.Entries) == 0 {
		return send, recv, false
	}
	seq := m.Elems()
	other := append([]*dtype.Elem{}, seq...)
	i := r.IntN(len(seq))
	id := integers[seq[i].Size]
	if id == 0 || seq[i].Kind == dtype.Integer {
		return send, recv, false
	}
	other[i] = types.Type(id).Elem()
	if r.IntN(2) == 0 {
		seq, other = other, seq
	}
	for k, s := range [][]*dtype.Elem{seq, other} {
		h := []*half{&send, &recv}[k]
		h.spec, h.count = dtypetest.Regroup(r, types, s, 1), 1
		h.m = h.spec.Typemap(types, 1<<20)
	}
	return send, recv, true
}

func sendMismatch(c *mpi.Comm, send, recv *half, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 5))
	from, err := send.lay(r)
	if err != nil {
		return err
	}
	to, err := recv.lay(r)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		return from.send(c, r.IntN(2), 1, 0)
	}
	before, data := bytes.Clone(to.mem), from.data()
	if _, err := to.recv(c, 0, 0); !errors.Is(err, mpi.ErrType) {
		return fmt.Errorf("received with %v", err)
	}
	return to.holds(before, data)
}
