package histories_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// live is a window at one member.
type live struct {
	*window
	comm     *mpi.Comm
	me       int
	win      *mpi.Window
	views    []*mpi.Window // the window, its duplicates, and windows of the phase's memory handles
	late     []*mpi.Window // windows of memory handles that are freed after their parent
	own      []mpi.Sync
	objects  [][]mpi.Sync // of each member
	mine     [][]byte     // slots
	lent     [][]byte     // of AllocMem
	attached [][]int64    // for each slot of a dynamic window the ends of the attached pieces
	address  [][]int64    // addresses of each member's slots, for a dynamic window
}

// memory is size bytes of the Go heap, or of AllocMem.
func (l *live) memory(size int64, lent bool) ([]byte, error) {
	if !lent {
		return make([]byte, size), nil
	}
	mem, err := mpi.AllocMem[byte](l.comm, int(size))
	if err == nil {
		l.lent = append(l.lent, mem)
	}
	return mem, err
}

func (l *live) open() (err error) {
	info := mpi.NewInfo()
	for _, pair := range l.info {
		if err := info.Set(pair[0], pair[1]); err != nil {
			return err
		}
	}
	unit, slots := l.unit[l.me], l.slots[l.me]
	var mem []byte
	switch l.flavor {
	case created, lent:
		mem, err = l.memory(slots[0].size, l.flavor == lent)
		if err == nil {
			l.win, err = l.comm.WinCreate(mem, unit, info)
		}
	case allocated:
		l.win, err = l.comm.WinAllocate(slots[0].size, unit, info)
	case shared, scattered:
		l.win, err = l.comm.WinAllocateShared(slots[0].size, unit, info)
	case dynamic:
		l.win, err = l.comm.WinCreateDynamic(info)
	}
	if err != nil {
		return err
	}
	if err := l.duplicate(); err != nil {
		return err
	}
	if err := l.allocSignals(); err != nil {
		return err
	}
	if l.flavor != dynamic {
		if mem == nil {
			mem = l.win.Untyped().Local()
		}
		if int64(len(mem)) != slots[0].size {
			return fmt.Errorf("%d bytes of memory, want %d", len(mem), slots[0].size)
		}
		l.mine = [][]byte{mem}
		fill(mem, slots[0].seed)
		return nil
	}
	l.attached = make([][]int64, len(slots))
	for _, s := range slots {
		mem, err := l.memory(s.size, s.direct)
		if err != nil {
			return err
		}
		fill(mem, s.seed)
		l.mine = append(l.mine, mem)
	}
	return l.tell()
}

// tell sends the addresses of the slots to all members.
func (l *live) tell() error {
	most := 0
	for _, slots := range l.slots {
		most = max(most, len(slots))
	}
	mine, all := make([]int64, most), make([]int64, most*len(l.members))
	for s, mem := range l.mine {
		if len(mem) > 0 {
			mine[s] = mpi.Address(mem)
		}
	}
	if err := mpi.Allgather(l.comm, mine, all); err != nil {
		return err
	}
	for k := range l.members {
		l.address = append(l.address, all[k*most:][:most])
	}
	return nil
}

func (l *live) close() error {
	for s, ends := range l.attached {
		if err := inPieces(l.mine[s], ends, func(piece []byte) error { return mpi.Detach(l.win, piece) }); err != nil {
			return err
		}
	}
	if err := l.win.FreeSyncObjects(l.own); err != nil {
		return err
	}
	if err := l.free(); err != nil {
		return err
	}
	for _, w := range l.late {
		if err := w.Free(); err != nil {
			return err
		}
	}
	for _, mem := range l.lent {
		if err := mpi.FreeMem(l.comm, mem); err != nil {
			return err
		}
	}
	return l.comm.Free()
}

// attach detaches and attaches memory as a phase says.
func (l *live) attach(all []attaching) error {
	for _, a := range all {
		if a.member != l.me || slices.Equal(l.attached[a.slot], a.ends) {
			continue
		}
		mem := l.mine[a.slot]
		err := errors.Join(
			inPieces(mem, l.attached[a.slot], func(piece []byte) error { return mpi.Detach(l.win, piece) }),
			inPieces(mem, a.ends, func(piece []byte) error { return mpi.Attach(l.win, piece) }))
		if err != nil {
			return err
		}
		l.attached[a.slot] = a.ends
	}
	return nil
}

// inPieces calls fn with the pieces of mem that have the given ends.
func inPieces(mem []byte, ends []int64, fn func(piece []byte) error) error {
	begin := int64(0)
	for _, end := range ends {
		if err := fn(mem[begin:end:end]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// disp is the displacement of o as an argument of calls.
func (l *live) disp(o *rmaOp) int64 {
	if l.flavor == dynamic && o.target >= 0 && o.view < len(l.window.views) {
		return mpi.AintAdd(l.address[o.target][o.slot], o.at)
	}
	return o.disp
}
