package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// In checking mode, too, a flush on a window of a memory handle completes or orders operations
// of the parent: the program may reuse their origin memory, and other ranks may access their
// target memory (RC-10, QV-32). A flush with thread scope completes only operations of its own
// window.
func TestRC10_QV32_FlushesByHandlesAreKnown(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	onHandles(t, 8, func(t testing.TB, c *mpi.Comm, h *handled) {
		ok(t, mpi.Attach(h.parent, h.mem))
		at := make([]int64, c.Size())
		ok(t, mpi.Allgather(c, []int64{mpi.Address(h.mem)}, at))
		parent, value := mpi.Win[int64]{Window: h.parent}, []int64{0}
		put := func() {
			t.Helper()
			value[0]++
			ok(t, parent.Put(value, h.next, int(at[h.next])))
		}
		for _, flush := range []func() error{
			func() error { return h.Flush(h.next) }, h.FlushAll,
			func() error { q := h.Rflush(h.next); return waitFor(q) }, func() error { q := h.RflushAll(); return waitFor(q) },
		} {
			put()
			ok(t, flush())
		}
		for _, flush := range []func() error{func() error { return h.FlushLocal(h.next) }, h.FlushLocalAll} {
			put()
			ok(t, flush())
			value[0]++
			ok(t, h.Flush(h.next))
		}
		for _, order := range []func() error{func() error { return h.Order(h.next) }, h.OrderAll} {
			ok(t, parent.Put([]int64{1}, h.next, int(at[h.next])))
			ok(t, order())
		}
		ok(t, h.parent.FlushAll())
		ok(t, h.SetInfo(pairs(t, "mpi_win_scope", "thread")))
		ok(t, parent.Put(value, h.next, int(at[h.next])))
		ok(t, h.Flush(h.next))
		value[0]++
		wantText(t, h.parent.Flush(h.next), mpi.ErrRMAConflict, "8 bytes here", "have changed before Flush at ")
		ok(t, c.Barrier())
		ok(t, mpi.Detach(h.parent, h.mem))
	})
}
