package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
)

// Sync is a handle of a synchronisation object of a window: a counter by which a process learns
// that others have completed their operations on its memory. A Sync is one word without
// pointers, and has the same representation in C. The process that allocated the object passes
// it to SyncObjectInit; others receive it in a message and pass it to SyncOpsInit, and may pass
// it on to any member of the window. The zero Sync is SyncNull; == tells whether two handles
// refer to the same object.
//
// All functions for messages, and all collectives except reductions, accept slices of Sync.
// Reductions, scans and ReduceLocal on them are ErrType. ErrType also for making types from the
// type of Sync, HandleSync, or from structs and arrays that contain a Sync, and for windows that
// contain or move them.
//
// C: MPIX_Sync, an extension; see docs/extensions.md.
type Sync struct{ h syncobject.Handle }

// This fails to compile unless a Sync has the size of its datatype.
var _ = [1]struct{}{}[unsafe.Sizeof(Sync{})-8]

// SyncNull refers to no object.
//
// C: MPIX_SYNC_NULL, an extension.
var SyncNull Sync

// IsNull reports whether s is SyncNull.
//
// C: MPIX_SYNC_NULL, an extension.
func (s Sync) IsNull() bool { return s == Sync{} }

// handleType is the operand type of Sync.
const handleType = op.Handle

// opType returns a type on which no operation is defined.
func (*Sync) opType() op.Type { return handleType }

// HandleSync is the predefined datatype of Sync, for Buffers: see Sync.
//
// C: MPIX_HANDLE_SYNC, an extension.
func HandleSync() Datatype { return types().lasting(types().Handle()) }

// SyncMode is the kinds of operations on a target for which a request of SyncOpsInit waits.
//
// C: the argument sync_mode of MPIX_Win_sync_ops_init, an extension.
type SyncMode int

// The modes, which can be combined by |; a signal with mode 0 waits for no operations.
// GetAccumulate, FetchAndOp, CompareAndSwap and the like count as both gets and accumulates:
// each of these two modes waits for them.
//
// C: MPIX_MODE_WIN_PUT, MPIX_MODE_WIN_GET, MPIX_MODE_WIN_ACCUMULATE, MPIX_MODE_WIN_ALL, extensions.
const (
	ModeWinPut        = SyncMode(syncobject.Put)
	ModeWinGet        = SyncMode(syncobject.Get)
	ModeWinAccumulate = SyncMode(syncobject.Accumulate)
	ModeWinAll        = SyncMode(syncobject.All)
)

// The info keys of the requests of synchronisation objects.
const (
	keyRestart = "restart"
	keyStrict  = "strict"
)

// AllocSyncObjects makes n synchronisation objects of this process, on which other processes
// signal it. info has no known keys. It is local. ErrCount if n is negative; ErrNoMem for more
// than 32768 objects of a window in a process.
//
// C: MPIX_Win_alloc_sync_objects, an extension.
func (w *Window) AllocSyncObjects(n int, info *Info) ([]Sync, error) {
	const by = call.WinAllocSyncObjects
	if err := w.usable(by); err != nil {
		return nil, err
	}
	checkKeys(w.c, by, info)
	handles, err := w.v.AllocSync(n)
	if err != nil {
		return nil, w.failed(err, by, Undefined)
	}
	list := make([]Sync, n)
	for i, h := range handles {
		list[i] = Sync{h}
	}
	return list, nil
}

// FreeSyncObjects frees synchronisation objects of this process and sets the elements of list to
// SyncNull. Signals that arrive later are lost. ErrArg if an element is null, was freed, or is
// not of this process; ErrWin if it is of another window; ErrRequest if it has an active
// request. Then none is freed.
//
// C: MPIX_Win_free_sync_objects, an extension.
func (w *Window) FreeSyncObjects(list []Sync) error {
	const by = call.WinFreeSyncObjects
	if err := w.usable(by); err != nil {
		return err
	}
	handles := make([]syncobject.Handle, len(list))
	for i, s := range list {
		handles[i] = s.h
	}
	if err := w.v.FreeSync(handles); err != nil {
		return w.failed(err, by, Undefined)
	}
	clear(list)
	return nil
}

// SyncOpsInit makes a persistent request that signals s, an object of rank target, when those
// operations that this process has issued to target, of the kinds in mode, are complete. Data of
// puts and accumulates is in the target's memory before the signal is counted, and data of gets
// is in this process's memory. Operations of other kinds are not waited for.
//
// A wait for the request, or a test of it, says that all operations have been issued. Start may
// come before that: the request covers operations issued before and after Start, from the last
// completed request of these kinds on. When it is complete, the program may reuse the memory of
// the operations. If the program tests before it has issued the last operation, the request
// signals too early if all other operations are complete.
//
// With mode 0 the request is only a notification: it signals when it is started, whatever
// operations are pending, and may be started again without waiting for it.
//
// With SyncRestart the request starts again whenever a test or wait has completed it; Free ends
// it. With mode 0 it then signals at every test and wait except the first.
//
// An active request that is freed signals once, when its operations are complete. Signals need
// no epoch. If the target has refused an operation, and this is known in time, the request has
// its error.
//
// Errors, returned when the request is started: ErrRank if target is not a rank or does not have
// s; ErrWin if s is of another window; ErrArg if s is not an object, is an object of this
// process that was freed, or if mode has an unknown bit; ErrInfoValue for a value of a key of an
// Info that is neither "true" nor "false". With target ProcNull the request does nothing. It
// cannot be cancelled.
//
// C: MPIX_Win_sync_ops_init, an extension.
func (w *Window) SyncOpsInit(target int, mode SyncMode, s Sync, hints ...SyncHint) Request {
	const by = call.WinSyncOpsInit
	if err := w.usable(by); err != nil {
		return Request{err: err}
	}
	checkKeys(w.c, by, hints...)
	o, err := syncHints(hints)
	var r *p2p.Request
	if err == nil {
		r, err = w.v.SyncOps(target, syncobject.Mode(mode), s.h, o.restart, by)
	}
	if err == nil && w.checks() {
		w.v.Signals(target)
	}
	return w.started(r, err, by, target)
}

// SyncObjectInit makes a persistent request that is complete when s, an object of this process,
// has been signalled count times since the last request for it was complete. Then this process
// may read the memory that was put to, and write the memory that was read by gets.
//
// Signals that arrive early count for the next Start. ErrWinCounter, which errors.Is matches
// with ErrRMASync as well, if there are more than count signals, because a process signals too
// often; the request is complete nevertheless, and no signal is lost. With count 0 it is
// complete when it is started.
//
// With SyncRestart the request starts again whenever a test or wait has completed it; Free ends
// it. With SyncStrict Start resets the object to count, as the proposal says. Signals that
// arrive before Start are then lost and reported as ErrWinCounter, and so are more than count.
//
// Errors, returned when the request is started: ErrCount if count is negative; ErrRequest if s
// has another active request, now or when this one is started; ErrWin if s is of another window;
// ErrArg if s is of another process, null or freed; ErrInfoValue for a value of a key of an Info
// that is neither "true" nor "false".
//
// C: MPIX_Win_sync_object_init, an extension.
func (w *Window) SyncObjectInit(s Sync, count int, hints ...SyncHint) Request {
	const by = call.WinSyncObjectInit
	if err := w.usable(by); err != nil {
		return Request{err: err}
	}
	checkKeys(w.c, by, hints...)
	o, err := syncHints(hints)
	if err == nil {
		err = o.err
	}
	var r *p2p.Request
	if err == nil {
		r, err = w.v.SyncObject(s.h, int64(count), o.restart, o.strict, by)
	}
	return w.started(r, err, by, Undefined)
}

// SyncRestart makes a request of a synchronisation object start again whenever a test or wait
// has completed it. The default is false.
//
// C: info key restart, an extension.
type SyncRestart bool

// SyncStrict makes requests of SyncObjectInit discard signals that arrive before Start, and
// report them. The default is false.
//
// C: info key strict, an extension.
type SyncStrict bool

// syncOptions is the hints for a request of a synchronisation object.
type syncOptions struct {
	restart, strict bool
	err             error // why strict is invalid; SyncOpsInit ignores it
}

func (v SyncRestart) syncHint(o *syncOptions) error { o.restart = bool(v); return nil }
func (v SyncStrict) syncHint(o *syncOptions) error  { o.strict = bool(v); return nil }

func (i *Info) syncHint(o *syncOptions) (err error) {
	o.strict, o.err = i.decides(keyStrict, o.strict)
	o.restart, err = i.decides(keyRestart, o.restart)
	return err
}

func syncHints(list []SyncHint) (syncOptions, error) {
	if len(list) == 0 {
		return syncOptions{}, nil // avoids the allocation of o
	}
	var o syncOptions
	for _, h := range list {
		if h != nil {
			if err := h.syncHint(&o); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// decides returns the value of a boolean key, or otherwise if the key is absent. A value that is
// neither true nor false is an error.
func (i *Info) decides(key string, otherwise bool) (bool, error) {
	v, found := i.Get(key)
	if !found {
		return otherwise, nil
	}
	b, ok := boolean(v)
	if !ok {
		return false, class.Errorf(class.InfoValue, "%s is %q, want true or false", key, v)
	}
	return b, nil
}

// Signal is SyncOpsInit, Start and Wait in one call: it waits until the operations of these
// kinds that this process has issued are complete, and signals s. The set of operations ends at
// the call, and no request is needed.
//
// C: none; see MPIX_Win_sync_ops_init, an extension.
func (w *Window) Signal(target int, mode SyncMode, s Sync) error {
	q := w.SyncOpsInit(target, mode, s)
	if err := q.Start(); err != nil {
		return err
	}
	_, err := q.Wait()
	if e := q.Free(); err == nil {
		return e
	}
	return err
}

// attended reports whether requests of a call take some action when the program waits for or tests them.
func attended(k call.Number) bool { return k == call.WinSyncOpsInit || k == call.WinSyncObjectInit }
