package rma

import (
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/sys"
)

// # The kernel's copies without the lock
//
// For a short put or get by the kernel, the work around it in Engine.copy takes more time than the
// kernel: the lock, the decision whether to make an offer, and in C the call of Go. Therefore, after
// an operation by the kernel, Engine.copy allows some of the next ones to use the kernel at once: as
// many as would make no offer anyway (offerTo.spare). They take no lock, and C makes them
// without Go (abi/lib/fast_put_get.c).
//
// This fast path decides nothing else. All other cases, and operations that the kernel refuses, take
// the slow path through Engine.copy from the beginning: it repeats an operation that the kernel has
// made in part. So the slow path detects all errors.
//
// No operation is made this way once the target's process is known to have died, whose process id
// another process may get: Gone is loaded before each, and lostUnlocked revokes what was allowed.

// unlockedLess is the length from which copies take the lock, in bytes: longer ones gain nothing.
// They may take as long as the scheduler of Go can do without the processor, see sys.CopyTo.
const unlockedLess = mem.MoveMin

// unlocked returns the address of n bytes at a displacement in the target's process, and whether
// they may be copied without the lock. If so, it counts the copy.
func (v *View) unlocked(t *target, disp int64, n int) (addr uint64, may bool) {
	r := t.rec
	if r.May.Load() <= 0 || v.rec.How.Load()&howInOrder != 0 || r.Gone.Load() || uint(n-1) >= unlockedLess-1 || uint64(disp) >= r.End.Load() {
		return 0, false
	}
	at := disp * r.Unit
	if int64(n) > r.Size-at || r.May.Add(-1) < 0 {
		return 0, false
	}
	return r.Addr + uint64(at), true
}

// putUnlocked is a put by the kernel without the lock. It reports whether it was made.
func (v *View) putUnlocked(t *target, origin []byte, disp int64) bool {
	addr, may := v.unlocked(t, disp, len(origin))
	return may && sys.CopyTo(int(t.rec.Pid), addr, origin)
}

// getUnlocked is a get by the kernel without the lock. It reports whether it was made.
func (v *View) getUnlocked(t *target, result []byte, disp int64) bool {
	addr, may := v.unlocked(t, disp, len(result))
	return may && sys.CopyFrom(int(t.rec.Pid), result, addr)
}

// allow sets how many operations to t may be made without the lock, after one by the kernel. The
// lock is held.
func (e *Engine) allow(t *target) {
	n := uint32(0)
	if t.path == pathKernel && e.p.DownCause(int(t.Process)) == nil {
		n = e.offers.At(int(t.Process)).spare(e.node.Sleeps(int(t.Process)))
	}
	t.rec.May.Store(int32(n))
}

// lostUnlocked allows no more operations to a process that has died. The lock is held.
func (e *Engine) lostUnlocked(peer int) {
	for _, w := range e.windows {
		for i := range w.targets {
			if t := w.targets[i].Load(); t != nil && int(t.Process) == peer {
				t.rec.May.Store(0)
			}
		}
	}
}
