package rma_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/rma"
)

// All that C finds from the address of a window is in memory of records, whatever the window and
// the fabric, and has the values that an operation of Go has left there.
func TestWhatCReadsIsInRecords(t *testing.T) {
	at := map[string]uintptr{}
	for _, f := range rma.DescriptorLayout() {
		at[f.Name] = uintptr(f.Value)
	}
	eachWindow(t, 2, 64, 8, func(x *window) error {
		if err := errors.Join(x.LockAll(0), x.PutBytes(eight, 1-x.w.Comm.Rank, x.disp(1-x.w.Comm.Rank, 0)), x.Flush(1-x.w.Comm.Rank)); err != nil {
			return err
		}
		address := x.Descriptor()
		view := *(*unsafe.Pointer)(unsafe.Pointer(&address))
		word := func(p unsafe.Pointer, name string) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Add(p, at[name])) }
		win := word(view, "VIEW_WINDOW")
		target := unsafe.Add(word(win, "WINDOW_TARGETS"), uintptr(1-x.w.Comm.Rank)*at["TARGET_BYTES"])
		records := map[string]unsafe.Pointer{"view": view, "window": win, "target": target}
		if gone := word(target, "TARGET_GONE"); gone != nil {
			records["word of the dead"] = gone
		}
		if near := *(*bool)(unsafe.Add(target, at["TARGET_NEAR"])); !near && word(target, "TARGET_STRIPES") != nil {
			return errors.New("a target on another node has stripes")
		}
		for what, p := range records {
			if !offheap.Holds(p) {
				return fmt.Errorf("the %s is at %p", what, p)
			}
		}
		if mode := *(*uint32)(unsafe.Add(win, at["WINDOW_MODE"])); mode&uint32(at["MODE_LOCK_ALL"]) == 0 {
			return fmt.Errorf("the mode is %d while all are locked", mode)
		}
		if end := *(*uint64)(unsafe.Add(target, at["TARGET_END"])); end == 0 {
			return errors.New("a target that was used has an empty record")
		}
		return errors.Join(x.UnlockAll(), barrier(x.w))
	})
}
