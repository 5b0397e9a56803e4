package serve

import (
	"maps"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/attach"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// Window is the memory of this process in a window, and what is kept of the frames of others to it. Its owner embeds it.
type Window struct {
	ID       uint64
	Own      *apply.Region    // the memory of the window; without bytes in dynamic windows
	Attached *attach.List     // the memory of a dynamic window, nil in others
	Handles  *memhandle.Table // of a dynamic window

	// faults are those of operations without a request, of which the sender has not been told: at
	// most one, the first, for each channel of each member.
	faults map[faultKey]operation.Fault
	// broken are operations with a notification that have been refused in part, by their channel:
	// their last frame is still to come, and notifies nobody.
	broken map[faultKey]bool
	// denied says why an operation of several frames is refused as a whole, by its channel: the
	// last such operation of each.
	denied map[faultKey]operation.Fault
}

// Forget drops what is kept of the operations of a process.
func (w *Window) Forget(process int32) {
	maps.DeleteFunc(w.faults, func(k faultKey, _ operation.Fault) bool { return k.process == process })
	maps.DeleteFunc(w.denied, func(k faultKey, _ operation.Fault) bool { return k.process == process })
	maps.DeleteFunc(w.broken, func(k faultKey, _ bool) bool { return k.process == process })
}

// Kept returns how many faults, refusals and broken operations are kept, for tests of the owner.
func (w *Window) Kept() (faults, denied, broken int) {
	return len(w.faults), len(w.denied), len(w.broken)
}

// Place returns where size bytes at off of the own memory are, for operations that have come by
// frames: off is what the origin has sent, in a dynamic window an address.
func (w *Window) Place(off uint64, size int64) (mem *apply.Region, at int64, err error) {
	if w.Attached == nil {
		room := uint64(len(w.Own.Mem))
		if size < 0 || off > room || uint64(size) > room-off {
			return nil, 0, class.Errorf(class.RMARange, "%d bytes at %d of a window of %d", size, off, room)
		}
		return w.Own, int64(off), nil
	}
	switch {
	case size < 0:
	case off >= memhandle.Space:
		if r := w.Handles.Find(off, uint64(size)); r != nil {
			return &r.Region, int64(off - r.Key), nil
		}
		return nil, 0, class.Errorf(class.RMARange, "no memory handle names these %d bytes", size)
	default:
		if r := w.Attached.Find(off, uint64(size)); r != nil {
			return &r.Memory, int64(off - r.Addr), nil
		}
	}
	return nil, 0, class.Errorf(class.RMARange, "%d bytes at address %#x are not attached", size, off)
}
