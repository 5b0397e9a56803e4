package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// Handles that the standard defines. The generated tables contain the others of constants.csv.
const (
	commNull        handle = 0x100
	commWorld       handle = 0x101
	commSelf        handle = 0x102
	groupNull       handle = 0x108
	groupEmpty      handle = 0x109
	winNull         handle = 0x110
	fileNull        handle = 0x118
	sessionNull     handle = 0x120
	messageNull     handle = 0x128
	messageNoProc   handle = 0x129
	infoNull        handle = 0x130
	infoEnv         handle = 0x131
	errhandlerNull  handle = 0x140
	errorsAreFatal  handle = 0x141
	errorsAbort     handle = 0x142
	errorsReturn    handle = 0x143
	requestNull     handle = 0x180
	typeNull        handle = 0x200
	opNull          handle = 0x020
	firstPredefined handle = 0x200 // of types
	lastPredefined  handle = 0x2ff
)

// inPlace is MPI_IN_PLACE.
const inPlace uintptr = 1

// comm returns the communicator of a handle.
func (l *Lib) comm(h handle, by call.Number) (*mpi.Comm, error) {
	switch world := l.world.Load(); {
	case h == commWorld && world != nil:
		return world, nil
	case h == commSelf && world != nil:
		return world.Self(), nil
	case h == commWorld, h == commSelf:
		return nil, l.fail(mpi.ErrComm, by, "MPI_COMM_WORLD and MPI_COMM_SELF exist after MPI_Init, not in a session")
	case h == commNull:
		return nil, l.fail(mpi.ErrComm, by, "communicator is MPI_COMM_NULL")
	}
	if c, ok := l.comms.get(h); ok {
		return c, nil
	}
	return nil, l.fail(mpi.ErrComm, by, "%#x is no communicator: it was freed, or never was one", h)
}

// addComm returns the handle of a communicator, MPI_COMM_NULL for nil.
func (l *Lib) addComm(c *mpi.Comm) handle {
	switch world := l.world.Load(); {
	case c == nil:
		return commNull
	case c == world:
		return commWorld
	case world != nil && c == world.Self():
		return commSelf
	}
	return l.comms.put(c)
}

// win returns the window of a handle.
func (l *Lib) win(h handle, by call.Number) (*mpi.Window, error) {
	if w, ok := l.wins.get(h); ok {
		return w, nil
	}
	if h == winNull {
		return nil, l.fail(mpi.ErrWin, by, "window is MPI_WIN_NULL")
	}
	return nil, l.fail(mpi.ErrWin, by, "%#x is no window: it was freed, or never was one", h)
}

// addWin returns the handle of a window, MPI_WIN_NULL for nil.
func (l *Lib) addWin(w *mpi.Window) handle {
	if w == nil {
		return winNull
	}
	return l.wins.put(w)
}

// group returns the group of a handle.
func (l *Lib) group(h handle, by call.Number) (mpi.Group, error) {
	if h == groupEmpty {
		return mpi.GroupEmpty, nil
	}
	if g, ok := l.groups.get(h); ok {
		return g, nil
	}
	if h == groupNull {
		return mpi.Group{}, l.fail(mpi.ErrGroup, by, "group is MPI_GROUP_NULL")
	}
	return mpi.Group{}, l.fail(mpi.ErrGroup, by, "%#x is no group: it was freed, or never was one", h)
}

// addGroup returns the handle of a group, MPI_GROUP_EMPTY for a group without members.
func (l *Lib) addGroup(g mpi.Group) handle {
	if g.Size() == 0 {
		return groupEmpty
	}
	return l.groups.add(g)
}

// info returns the info of a handle, nil for MPI_INFO_NULL.
func (l *Lib) info(h handle, by call.Number) (*mpi.Info, error) {
	switch h {
	case infoNull:
		return nil, nil
	case infoEnv:
		return mpi.InfoEnv(), nil
	}
	if i, ok := l.infos.get(h); ok {
		return i, nil
	}
	return nil, l.fail(mpi.ErrInfo, by, "%#x is no info: it was freed, or never was one", h)
}

func (l *Lib) addInfo(i *mpi.Info) handle {
	if i == nil {
		return infoNull
	}
	return l.infos.add(i)
}

// datatype returns the datatype of a handle. It returns the null type for an invalid handle,
// for which calls of package mpi raise an error.
func (l *Lib) datatype(h handle) mpi.Datatype {
	if h >= firstPredefined && h <= lastPredefined {
		return l.predefined[h-firstPredefined]
	}
	d, _ := l.types.get(h)
	return d
}

// addType returns the handle of a datatype.
func (l *Lib) addType(d mpi.Datatype) handle {
	if d.IsNull() {
		return typeNull
	}
	return l.types.put(d)
}

// startTypes registers the predefined types under their handles and the handles with the types.
func (l *Lib) startTypes() {
	l.types.again = !checking()
	for _, p := range predefinedTypes {
		d, err := mpi.Predefined(p.name)
		if err != nil {
			panic("bind: " + err.Error())
		}
		l.predefined[p.handle-firstPredefined] = d
		engine.SetHandle(d, p.handle)
	}
}

// op returns the operation of a handle, the null operation for an invalid handle.
func (l *Lib) op(h handle) mpi.Op {
	if h < handle(len(predefinedOps)) {
		return predefinedOps[h]
	}
	o, _ := l.ops.get(h)
	return o
}

// operation returns the operation of argument i, for the floating-point environment of the caller
// and Fortran's values of true and false.
func (l *Lib) operation(a args, i int) mpi.Op {
	o := l.op(a.word(i))
	if a.env != 0 {
		o = engine.In(o, a.env)
	}
	if l.allOnes {
		o = engine.InLogicals(o)
	}
	return o
}

// predefinedOps are the predefined operations by their handles.
var predefinedOps = [...]mpi.Op{
	0x21: mpi.Sum, 0x22: mpi.Min, 0x23: mpi.Max, 0x24: mpi.Prod,
	0x28: mpi.Band, 0x29: mpi.Bor, 0x2a: mpi.Bxor, 0x30: mpi.Land, 0x31: mpi.Lor, 0x32: mpi.Lxor,
	0x38: mpi.Minloc, 0x39: mpi.Maxloc, 0x3c: mpi.Replace, 0x3d: mpi.NoOp,
}

// buf returns the Buffer of count elements at an address of C.
func (l *Lib) buf(address uintptr, count int, d mpi.Datatype) mpi.Buffer {
	if address != 0 && address < firstPage {
		return l.low(address, count, d)
	}
	if count == 0 && d.IsNull() { // no elements need no type: programs pass MPI_DATATYPE_NULL
		return mpi.Buffer{}
	}
	return mpi.BufPtr(pointer(address), count, d)
}

// low is buf for an address below the first page, which is no valid Go pointer. Its error
// reports the address as the program passed it.
func (l *Lib) low(address uintptr, count int, d mpi.Datatype) mpi.Buffer {
	if !d.IsNull() && count > 0 {
		size, _ := d.Size()
		if lb, _, err := d.TrueExtent(); err == nil && size > 0 && int(address)+lb < firstPage {
			return engine.BufError(mpi.ErrBuffer, "%d x %s at address %#x, which is not valid", count, d.Name(), address)
		}
	}
	return mpi.BufPtr(pointer(address), count, d)
}

// finish ends the handle that argument i points to, after its object was freed, and sets it to
// null.
func (a args) finish(i int, null handle, remove func(handle) bool) {
	at := (*handle)(a.result(i))
	remove(*at)
	*at = null
}
