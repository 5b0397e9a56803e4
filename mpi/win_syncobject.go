package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
)

// Sync names a synchronisation object of a window: a counter by which one process learns
// that others have completed their operations on its memory. It is one word without
// pointers, the same in C. In the process that has allocated the object it is for SyncObjectInit, and
// elsewhere, received in a message, for SyncOpsInit. There it may be passed on, to any member
// of the window. The zero Sync is SyncNull; == tells whether two name the same object.
//
// Slices of Sync are sent and received by all functions for messages, and by all collectives
// but those that reduce: reductions, scans and ReduceLocal on them are ErrType. No type is
// made of that of Sync, HandleSync, nor of structs and arrays with it, and windows neither
// hold nor move it: ErrType.
//
// C: MPIX_Sync, an extension; see docs/extensions.md.
type Sync struct{ h syncobject.Handle }

// A Sync is as long as its datatype says.
var _ = [1]struct{}{}[unsafe.Sizeof(Sync{})-8]

// SyncNull names no object.
//
// C: MPIX_SYNC_NULL, an extension.
var SyncNull Sync

// IsNull reports whether s is SyncNull.
//
// C: MPIX_SYNC_NULL, an extension.
func (s Sync) IsNull() bool { return s == Sync{} }

// handleType is what elements of type Sync are to operations.
const handleType = op.Handle

// opType makes the type tell that no operation is defined on it.
func (*Sync) opType() op.Type { return handleType }

// HandleSync is the predefined datatype of Sync, for Buffers: see there.
//
// C: MPIX_HANDLE_SYNC, an extension.
func HandleSync() Datatype { return types().lasting(types().Handle()) }

// SyncMode says which operations on a target a request of SyncOpsInit waits for.
//
// C: the argument sync_mode of MPIX_Win_sync_ops_init, an extension.
type SyncMode int

// The modes, to be combined by |; 0 is for signals that wait for nothing. GetAccumulate,
// FetchAndOp and CompareAndSwap, and what is like them, are gets and accumulates: each of
// the two modes waits for them.
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

// AllocSyncObjects makes n synchronisation objects of this process, on which others signal
// it. No key of info is known. It is local. A negative n is ErrCount; more than 32768
// objects of a window and process are ErrNoMem.
//
// C: MPIX_Win_alloc_sync_objects, an extension.
func (w *Window) AllocSyncObjects(n int, info *Info) ([]Sync, error) {
	const call = callAllocSyncObjects
	if err := w.usable(call); err != nil {
		return nil, err
	}
	checkKeys(w.c, call, info)
	handles, err := w.v.AllocSync(n)
	if err != nil {
		return nil, w.failed(err, call, Undefined)
	}
	list := make([]Sync, n)
	for i, h := range handles {
		list[i] = Sync{h}
	}
	return list, nil
}

// FreeSyncObjects frees synchronisation objects of this process and sets those in list to
// SyncNull. Signals that still come are lost. If one of them is none of this process, is
// null or has been freed, that is ErrArg, of another window ErrWin; if a request of it is
// active ErrRequest. Then none has been freed.
//
// C: MPIX_Win_free_sync_objects, an extension.
func (w *Window) FreeSyncObjects(list []Sync) error {
	const call = callFreeSyncObjects
	if err := w.usable(call); err != nil {
		return err
	}
	handles := make([]syncobject.Handle, len(list))
	for i, s := range list {
		handles[i] = s.h
	}
	if err := w.v.FreeSync(handles); err != nil {
		return w.failed(err, call, Undefined)
	}
	clear(list)
	return nil
}

// SyncOpsInit makes a persistent request that signals s, an object of rank target, when the
// operations that this process has issued there are complete, of those kinds that mode
// says: so far that what was put and accumulated is in the target's memory before the
// signal is counted, and what was to be got is here. Operations of other kinds are not waited
// for.
//
// Waiting for the request, or testing it, says that all has been issued: Start may come
// before, and so it covers what was issued before and after Start, down to the last request
// of these kinds that was completed. When it is complete, memory that was given to the
// operations may be used again. A Test before the last operation signals too early if all
// others are complete.
//
// With mode 0 the request is a mere notification: it signals when it is started, whatever is
// under way, and may be started again without having been waited for.
//
// With SyncRestart the request starts again whenever a test or wait has completed it; to end it,
// free it. Then mode 0 signals at every test and wait but the first.
//
// A request that is freed while it is active signals once, when its operations are complete.
// Signals need no epoch. An operation that is refused at the target is the request's error
// if that is known by then.
//
// A target that is no rank, or does not have s, is ErrRank; s of another window is ErrWin, no
// object or an own one that was freed ErrArg, an unknown bit in mode ErrArg, a value of a
// key of an Info that is neither "true" nor "false" ErrInfoValue. These show when the request is
// started. With target ProcNull the request does nothing. It cannot be cancelled.
//
// C: MPIX_Win_sync_ops_init, an extension.
func (w *Window) SyncOpsInit(target int, mode SyncMode, s Sync, hints ...SyncHint) Request {
	const call = callSyncOpsInit
	if err := w.usable(call); err != nil {
		return Request{err: err}
	}
	checkKeys(w.c, call, hints...)
	o, err := syncHints(hints)
	var r *p2p.Request
	if err == nil {
		r, err = w.v.SyncOps(target, syncobject.Mode(mode), s.h, o.restart, call.String())
	}
	if err == nil && w.checks() {
		w.v.Signals(target)
	}
	return w.started(r, err, call, target)
}

// SyncObjectInit makes a persistent request that is complete when the own object s has been
// signalled count times since the last one was complete. Then the target may read what was
// put, and write where was got from.
//
// Signals that come early count for the next Start. If there are more than count of them,
// somebody signals too often: that is ErrWinCounter, which errors.Is takes for ErrRMASync,
// too. The request is complete all the same, and nothing is lost. With count 0 it is
// complete when it is started.
//
// With SyncRestart the request starts again whenever a test or wait has completed it; to end it,
// free it. With SyncStrict Start sets the object to count, as the proposal says; signals that come
// before Start, and are lost by that, are ErrWinCounter, as are more than count.
//
// A negative count is ErrCount; another active request of s, now or when this one is
// started, is ErrRequest; s of another window is ErrWin, of another process, null or freed
// ErrArg, a value of a key of an Info that is neither "true" nor "false" ErrInfoValue. These show when
// the request is started.
//
// C: MPIX_Win_sync_object_init, an extension.
func (w *Window) SyncObjectInit(s Sync, count int, hints ...SyncHint) Request {
	const call = callSyncObjectInit
	if err := w.usable(call); err != nil {
		return Request{err: err}
	}
	checkKeys(w.c, call, hints...)
	o, err := syncHints(hints)
	if err == nil {
		err = o.err
	}
	var r *p2p.Request
	if err == nil {
		r, err = w.v.SyncObject(s.h, int64(count), o.restart, o.strict, call.String())
	}
	return w.started(r, err, call, Undefined)
}

// SyncRestart has a request of a synchronisation object start again whenever a test or wait has
// completed it. It is false unless set.
//
// C: info key restart, an extension.
type SyncRestart bool

// SyncStrict has SyncObjectInit lose the signals that come before Start, and report them. It is
// false unless set.
//
// C: info key strict, an extension.
type SyncStrict bool

// syncOptions is what hints say of a request of a synchronisation object.
type syncOptions struct {
	restart, strict bool
	err             error // what is wrong with strict, which SyncOpsInit does not look at
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
		return syncOptions{}, nil // without the allocation of o
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

// decides is the value of a boolean key, otherwise if there is none, whose value is not to be
// passed over if it is neither of the two.
func (i *Info) decides(key string, otherwise bool) (bool, error) {
	v, found := i.Get(key)
	if !found {
		return otherwise, nil
	}
	b, ok := boolean(v)
	if !ok {
		return false, wrong(ErrInfoValue, "%s is %q, want true or false", key, v)
	}
	return b, nil
}

// Signal is SyncOpsInit, Start and Wait in one: what this process has issued of these kinds
// until now is complete, and s is signalled. It says when the set is closed, and needs no
// request.
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
