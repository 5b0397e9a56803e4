package mpi

import (
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/rma"
)

// The info keys of windows.
const (
	keyNoLocks       = "no_locks"
	keyOrdering      = "accumulate_ordering"
	keyOps           = "accumulate_ops"
	keySameSize      = "same_size"
	keySameDispUnit  = "same_disp_unit"
	keyNoncontig     = "alloc_shared_noncontig"
	keyGranularity   = "mpi_accumulate_granularity"
	keyMinAlignment  = "mpi_minimum_memory_alignment"
	keyScope         = "mpi_win_scope"
	keyInOrder       = "mpi_win_order"
	keyIntrinsic     = "mpi_assert_accumulate_intrinsic"
	sameOp           = "same_op"
	sameOpNoOp       = "same_op_no_op"
	noOrdering       = "none"
	scopeProcess     = "process"
	scopeThread      = "thread"
	orderingElements = 4
)

// The names that other implementations have for some of these keys, all of them booleans.
const (
	aliasScope     = "mpi_win_scope_thread"
	aliasInOrder   = "mpi_win_ordered"
	aliasIntrinsic = "acc_single_intrinsic"
)

// orderings are the values that accumulate_ordering lists, by bit.
func orderings() [orderingElements]string {
	return [orderingElements]string{"rar", "raw", "war", "waw"}
}

// truth is the value of a boolean key; v if there is none, or it is neither of the two.
func (i *Info) truth(key string, v bool) bool {
	switch s, _ := i.Get(key); s {
	case "true":
		return true
	case "false":
		return false
	}
	return v
}

// number is the value of a key that is a number from least on; v if there is none.
func (i *Info) number(key string, least, v int64) int64 {
	s, _ := i.Get(key)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= least {
		return n
	}
	return v
}

// winHints is o changed by those keys of info that can be changed in the life of a window.
func winHints(o rma.Options, info *Info) rma.Options {
	o.NoLocks = info.truth(keyNoLocks, o.NoLocks)
	switch v, _ := info.Get(keyOps); v {
	case sameOp:
		o.SameOp = true
	case sameOpNoOp:
		o.SameOp = false
	}
	o.Thread = info.truth(aliasScope, o.Thread)
	switch v, _ := info.Get(keyScope); v {
	case scopeThread:
		o.Thread = true
	case scopeProcess:
		o.Thread = false
	}
	o.SameSize = info.truth(keySameSize, o.SameSize)
	o.SameDispUnit = info.truth(keySameDispUnit, o.SameDispUnit)
	o.InOrder = info.truth(keyInOrder, info.truth(aliasInOrder, o.InOrder))
	o.Intrinsic = info.truth(keyIntrinsic, info.truth(aliasIntrinsic, o.Intrinsic))
	if v, found := info.Get(keyOrdering); found {
		if ordering, ok := parseOrdering(v); ok {
			o.Ordering = ordering
		}
	}
	return o
}

// parseOrdering is the value of accumulate_ordering, a list in any order, or none.
func parseOrdering(v string) (o rma.Ordering, ok bool) {
	if v == noOrdering {
		return 0, true
	}
next:
	for item := range strings.SplitSeq(v, ",") {
		for bit, name := range orderings() {
			if strings.TrimSpace(item) == name {
				o |= 1 << bit
				continue next
			}
		}
		return 0, false
	}
	return o, true
}

// winSpec fills in what info says of a window that is to be made.
func winSpec(s *rma.Spec, info *Info) {
	s.Options = winHints(rma.Options{Ordering: rma.Ordered}, info)
	s.Options.Granularity = info.number(keyGranularity, 0, 0)
	s.Noncontig = info.truth(keyNoncontig, false)
	s.Align = alignment(info)
}

// SetInfo changes the hints of the window: those in info that are known, have a legal
// value and can be changed after the window was made; no_locks cannot while there are
// duplicates. Collective over the window, with
// the same hints everywhere, but it does not communicate. Known are, with their
// defaults:
//
//   - no_locks, "false": with "true" there is no Lock, nor LockAll. One that does is
//     ErrRMASync.
//   - accumulate_ordering, "rar,raw,war,waw": the accumulates of one origin on one
//     location whose order is kept, reads after reads and so on; or "none".
//   - accumulate_ops, "same_op_no_op": accumulates on one location at a time are of one
//     operation, or NoOp; with "same_op" without NoOp. Halo gains nothing from it, and
//     any operations are atomic with each other.
//   - mpi_accumulate_granularity, "0", when the window is made: the number of bytes that
//     accumulates are to be cut into. With 0 long ones are as fast as can be, and keep
//     others from the memory that they are at work on for the time; with other values
//     they go element by element.
//   - mpi_win_scope, "process": the flushes of the window, or duplicate, cover all
//     operations of the process; with "thread" those that were issued through it only. What
//     ends epochs always covers all. Set before operations are issued.
//   - mpi_win_order, "false": with "true" the operations that are issued through the window,
//     or duplicate, to one target are complete there in the order in which they were issued.
//   - mpi_assert_accumulate_intrinsic, "false": with "true" there are only accumulates
//     through the window, or duplicate, for which OpIntrinsic is true; others may not be
//     atomic. It stays "false" where that is never true.
//   - same_size, "false": all members bring the same size.
//   - same_disp_unit, "false": all have the same unit.
//   - alloc_shared_noncontig, "false", when the window is made by WinAllocateShared: the
//     memory of the members need not be contiguous. Later it is kept, and changes nothing.
//   - mpi_minimum_memory_alignment, "64", when the window is made by WinAllocate or
//     WinAllocateShared: a power of two, at a multiple of which memory begins.
//
// C: MPI_Win_set_info, section 12.2.7.
func (w *Window) SetInfo(info *Info) error {
	if err := w.usable(callSetInfo); err != nil {
		return err
	}
	w.v.SetOptions(winHints(w.v.Options(), info))
	w.noncontig.Store(info.truth(keyNoncontig, w.noncontig.Load()))
	w.eachThread(func(t *Window) { t.v.SetOptions(winHints(t.v.Options(), info)) })
	return nil
}

// Info returns the hints of the window: all that are known for its flavor, with what was
// set or else the default.
//
// C: MPI_Win_get_info, section 12.2.7.
func (w *Window) Info() (*Info, error) {
	if err := w.usable(callGetInfo); err != nil {
		return nil, err
	}
	o := w.v.Options()
	pairs := [][2]string{
		{keyNoLocks, strconv.FormatBool(o.NoLocks)},
		{keyOrdering, orderingText(o.Ordering)},
		{keyOps, sameOpNoOp},
		{keyGranularity, strconv.FormatInt(o.Granularity, 10)},
		{keySameSize, strconv.FormatBool(o.SameSize)},
		{keySameDispUnit, strconv.FormatBool(o.SameDispUnit)},
		{keyScope, scopeProcess},
		{keyInOrder, strconv.FormatBool(o.InOrder)},
		{keyIntrinsic, strconv.FormatBool(o.Intrinsic)},
	}
	if o.Thread {
		pairs[6][1] = scopeThread
	}
	if o.SameOp {
		pairs[2][1] = sameOp
	}
	switch w.v.Flavor() {
	case rma.Shared:
		pairs = append(pairs, [2]string{keyNoncontig, strconv.FormatBool(w.noncontig.Load())})
		fallthrough
	case rma.Allocated:
		pairs = append(pairs, [2]string{keyMinAlignment, strconv.FormatInt(w.align, 10)})
	}
	i := NewInfo()
	for _, p := range pairs {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// orderingText is the value of accumulate_ordering.
func orderingText(o rma.Ordering) string {
	var list []string
	for bit, name := range orderings() {
		if o>>bit&1 != 0 {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return noOrdering
	}
	return strings.Join(list, ",")
}
