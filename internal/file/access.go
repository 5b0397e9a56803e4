package file

import (
	"math"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

// Direction is what an access does.
type Direction bool

// The directions.
const (
	Read  Direction = false
	Write Direction = true
)

// Individual is the value of an offset that stands for the individual file pointer.
const Individual = math.MinInt64

// usable returns an error if the access is not allowed on the file.
func (f *File) usable(d Direction, offset int64) error {
	switch {
	case f.closed.Load():
		return class.Errorf(class.File, "file is closed")
	case d == Read && f.mode.has(WriteOnly):
		return class.Errorf(class.Access, "the file is open for writing only: %v", f.mode)
	case d == Write && f.mode.has(ReadOnly):
		return class.Errorf(class.ReadOnly, "the file is open for reading only: %v", f.mode)
	case f.mode.has(Sequential) && offset != Shared:
		return class.Errorf(class.UnsupportedOperation, "the file is sequential: only the shared file pointer may be used")
	}
	return nil
}

// Do reads or writes m at an offset in elementary types, or at the individual pointer, and returns
// how many bytes: less than m has where the file ends.
func (f *File) Do(d Direction, offset int64, x Data) (int64, error) {
	v := f.view.Load()
	if v.converts == nil {
		return f.do(v, v.unit, d, offset, x.Mem)
	}
	m, c, err := v.converted(d, x)
	if err != nil {
		return 0, err
	}
	return c.done(f.do(v, v.unit, d, offset, m))
}

// DoBytes is Do with the offset in bytes of data, and for any number of bytes.
func (f *File) DoBytes(d Direction, offset int64, m mem.Mem) (int64, error) {
	return f.do(f.view.Load(), 1, d, offset, m)
}

// do is Do in units of unit bytes of data.
func (f *File) do(v *View, unit int64, d Direction, offset int64, m mem.Mem) (int64, error) {
	if err := f.check(d, offset, m); err != nil {
		return 0, err
	}
	var at int64
	var err error
	switch offset {
	case Individual:
		return f.atPointer(v, unit, d, m)
	case Shared:
		at, err = f.take(v, m.Len())
	default:
		at, err = v.position(unit, offset, m.Len())
	}
	if err != nil {
		return 0, err
	}
	return f.move(v, d, m, at, false)
}

// check returns an error of the arguments of an access.
func (f *File) check(d Direction, offset int64, m mem.Mem) error {
	if err := m.Err(); err != nil {
		return err
	}
	return f.usable(d, offset)
}

// atPointer is Do at the individual pointer, which moves by what has been accessed.
func (f *File) atPointer(v *View, unit int64, d Direction, m mem.Mem) (int64, error) {
	p := &f.pointer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := v.position(unit, p.at/unit, m.Len()); err != nil {
		return 0, err
	}
	n, err := f.move(v, d, m, p.at, false)
	p.at += n / unit * unit
	return n, err
}

// reserve moves the individual pointer behind an access of n bytes that begins now, and returns
// where it begins.
func (f *File) reserve(v *View, n int) (int64, error) {
	p := &f.pointer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := v.position(v.unit, p.at/v.unit, n); err != nil {
		return 0, err
	}
	at := p.at
	if !planted.PointerStays {
		p.at += int64(n)
	}
	return at, nil
}

// move is transfer, of which others see all or nothing in atomic mode. apart says that the goroutine is none of
// the program's.
func (f *File) move(v *View, d Direction, m mem.Mem, at int64, apart bool) (int64, error) {
	if f.atomic.on.Load() && m.Len() > 0 {
		return f.atomically(v, d, m, at, apart)
	}
	return f.transfer(v, m, at, d == Write)
}

// Start is Do that does not wait: a worker does it. The request is of package p2p. The pointer moves
// by all that m has.
func (f *File) Start(d Direction, offset int64, x Data, by call.Number) (*p2p.Request, error) {
	if err := f.check(d, offset, x.Mem); err != nil {
		return nil, err
	}
	v := f.view.Load()
	m, c, failed := v.converted(d, x)
	if failed != nil {
		return nil, failed
	}
	var at int64
	var err error
	switch offset {
	case Individual:
		at, err = f.reserve(v, m.Len())
	case Shared:
		at, err = f.take(v, m.Len())
	default:
		at, err = v.position(v.unit, offset, m.Len())
	}
	if err != nil {
		return nil, err
	}
	if err := f.pending.begin(); err != nil {
		return nil, err
	}
	r := f.request(by)
	f.e.workers.do(func() {
		n, err := f.move(v, d, m, at, true)
		f.pending.end()
		f.converted(r, c, n, err)
	})
	return r, nil
}

// request makes a request for an access. The call names it.
func (f *File) request(by call.Number) *p2p.Request {
	p := f.e.p
	p.Lock()
	defer p.Unlock()
	return f.e.p2p.NewRequest(f.c, by)
}

// converted completes a request whose data has moved. Functions of the program are called by its own
// threads, when they wait or test.
func (f *File) converted(r *p2p.Request, c *conversion, n int64, err error) {
	if !c.byProgram() {
		n, err = c.done(n, err)
		f.finish(r, n, err)
		return
	}
	p := f.e.p
	p.Lock()
	defer p.Unlock()
	p.AddTask(func() {
		n, err := c.done(n, err)
		f.finish(r, n, err)
	})
}

// finish completes a request.
func (f *File) finish(r *p2p.Request, n int64, err error) {
	p := f.e.p
	p.Lock()
	defer p.Unlock()
	r.Status.Bytes = uint64(n)
	f.e.p2p.Finish(r, err)
}

// Bytes is the number of bytes of an elementary type of the present view.
func (f *File) Bytes() int64 { return f.view.Load().unit }

// View returns the present view.
func (f *File) View() *View { return f.view.Load() }

// SetView sets the view of this member: collective. The sizes of the elementary types, and the
// representations, must be the same at all members. The pointer returns to the beginning. own is the
// error in the arguments of this member.
func (f *File) SetView(v *View, own error) error {
	same := ""
	if own == nil {
		same = v.terms()
		if f.split.active() {
			own = class.Errorf(class.Request, "%s has begun and has not been ended", f.split.call)
		}
	}
	f.queue.wait()
	if err := f.e.agree(f.c, call.FileSetView, same, own); err != nil {
		return err
	}
	f.pointer.mu.Lock()
	f.view.Store(v)
	f.pointer.at = 0
	f.pointer.mu.Unlock()
	f.tell()
	return f.placeShared(0)
}
