package mpi

import (
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/rma"
)

// The info keys of windows, and what stands for values of theirs.
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

// NoLocks promises that there is no Lock, nor LockAll. One that does is ErrRMASync. It is false
// unless set, and cannot be changed while the window has duplicates.
//
// C: info key no_locks, section 12.2.1.
type NoLocks bool

// AccumulateOrdering is for which accumulates of one origin on one location the order is kept: a
// sum of OrderRAR, OrderRAW, OrderWAR and OrderWAW, all of them unless set, or OrderNone.
//
// C: info key accumulate_ordering, section 12.2.1.
type AccumulateOrdering uint8

// The values of AccumulateOrdering: reads after reads, reads after writes and so on.
//
// C: info key accumulate_ordering, section 12.7.2.
const (
	OrderRAR  = AccumulateOrdering(rma.ReadAfterRead)
	OrderRAW  = AccumulateOrdering(rma.ReadAfterWrite)
	OrderWAR  = AccumulateOrdering(rma.WriteAfterRead)
	OrderWAW  = AccumulateOrdering(rma.WriteAfterWrite)
	OrderNone = AccumulateOrdering(0)
)

// AccumulateOps promises of which operations the accumulates on one location at a time are. Halo
// gains nothing from it, and any operations are atomic with each other.
//
// C: info key accumulate_ops, section 12.2.1.
type AccumulateOps uint8

// The values of AccumulateOps: one operation or NoOp, unless set; one operation.
//
// C: info key accumulate_ops, section 12.2.1.
const (
	SameOpNoOp AccumulateOps = iota
	SameOp
)

// AccumulateGranularity is the number of bytes that accumulates are to be cut into, of a window
// that is about to be made. With 0, which is so unless set, long ones are as fast as can be, and
// keep others from the memory that they are at work on for the time; with other values they go
// element by element.
//
// C: info key mpi_accumulate_granularity, section 12.2.1.
type AccumulateGranularity int64

// AccumulateIntrinsic promises that there are only accumulates through the window, or duplicate,
// for which OpIntrinsic is true; others may not be atomic. It is false unless set, and stays false
// where that is never true.
//
// C: info key mpi_assert_accumulate_intrinsic, an extension.
type AccumulateIntrinsic bool

// SameSize promises that all members bring the same size. It is false unless set, and cannot be
// changed while the window has duplicates.
//
// C: info key same_size, section 12.2.1.
type SameSize bool

// SameDispUnit promises that all members have the same displacement unit. It is false unless set,
// and cannot be changed while the window has duplicates.
//
// C: info key same_disp_unit, section 12.2.1.
type SameDispUnit bool

// SharedNoncontig permits WinAllocateShared to give members memory that is not contiguous. It is
// false unless set; later it is kept, and changes nothing.
//
// C: info key alloc_shared_noncontig, section 12.2.3.
type SharedNoncontig bool

// MinimumAlignment is a number of bytes, a power of two of at most 1 GiB, at a multiple of which
// the memory of AllocMem, WinAllocate or WinAllocateShared begins. It is 64 unless set.
//
// C: info key mpi_minimum_memory_alignment, sections 9.2 and 12.2.2.
type MinimumAlignment int64

// WinScope says which operations the flushes of the window, or duplicate, cover. What ends epochs
// always covers all. It is set before operations are issued.
//
// C: info key mpi_win_scope, an extension.
type WinScope uint8

// The values of WinScope: all operations of the process, unless set; those that were issued
// through the window, or duplicate, only.
//
// C: info key mpi_win_scope, an extension.
const (
	ScopeProcess WinScope = iota
	ScopeThread
)

// WinOrder asks that the operations that are issued through the window, or duplicate, to one target
// are complete there in the order in which they were issued. It is false unless set.
//
// C: info key mpi_win_order, an extension.
type WinOrder bool

// winOptions is what hints say of a window.
type winOptions struct {
	rma.Options
	align     int64 // 0: the default
	noncontig bool
}

func (v NoLocks) winHint(o *winOptions)             { o.NoLocks = bool(v) }
func (v AccumulateOrdering) winHint(o *winOptions)  { o.Ordering = rma.Ordering(v) & rma.Ordered }
func (v AccumulateOps) winHint(o *winOptions)       { o.SameOp = v == SameOp }
func (v AccumulateIntrinsic) winHint(o *winOptions) { o.Intrinsic = bool(v) }
func (v SameSize) winHint(o *winOptions)            { o.SameSize = bool(v) }
func (v SameDispUnit) winHint(o *winOptions)        { o.SameDispUnit = bool(v) }
func (v SharedNoncontig) winHint(o *winOptions)     { o.noncontig = bool(v) }
func (v MinimumAlignment) winHint(o *winOptions)    { v.memHint(&o.align) }
func (v WinScope) winHint(o *winOptions)            { o.Thread = v == ScopeThread }
func (v WinOrder) winHint(o *winOptions)            { o.InOrder = bool(v) }

func (v AccumulateGranularity) winHint(o *winOptions) {
	if v >= 0 {
		o.Granularity = int64(v)
	}
}

func (v MinimumAlignment) memHint(align *int64) {
	if v > 0 && v&(v-1) == 0 && v <= 1<<30 {
		*align = int64(v)
	}
}

// A winKey is an info key with the hint that a value of it is, nil if the value is not legal.
type winKey struct {
	name string
	hint func(value string) WinHint
}

// winKeys are the info keys of windows. The names that the standard has come behind those of
// others, and so count if both are there.
func winKeys() [14]winKey {
	return [...]winKey{
		{keyNoLocks, truth[NoLocks]},
		{keyOrdering, parseOrdering},
		{keyOps, choice(sameOpNoOp, SameOpNoOp, sameOp, SameOp)},
		{keyGranularity, number[AccumulateGranularity]},
		{keySameSize, truth[SameSize]},
		{keySameDispUnit, truth[SameDispUnit]},
		{keyNoncontig, truth[SharedNoncontig]},
		{keyMinAlignment, number[MinimumAlignment]},
		{aliasScope, choice("false", ScopeProcess, "true", ScopeThread)},
		{keyScope, choice(scopeProcess, ScopeProcess, scopeThread, ScopeThread)},
		{aliasInOrder, truth[WinOrder]},
		{keyInOrder, truth[WinOrder]},
		{aliasIntrinsic, truth[AccumulateIntrinsic]},
		{keyIntrinsic, truth[AccumulateIntrinsic]},
	}
}

// truth is a value of a boolean key.
func truth[H interface {
	~bool
	WinHint
}](value string) WinHint {
	if b, ok := boolean(value); ok {
		return H(b)
	}
	return nil
}

// number is a value of a key that is a number.
func number[H interface {
	~int64
	WinHint
}](value string) WinHint {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return H(n)
	}
	return nil
}

// choice is a key with two values.
func choice(a string, x WinHint, b string, y WinHint) func(value string) WinHint {
	return func(value string) WinHint {
		switch value {
		case a:
			return x
		case b:
			return y
		}
		return nil
	}
}

// orderings are the values that accumulate_ordering lists, by bit.
func orderings() [orderingElements]string {
	return [orderingElements]string{"rar", "raw", "war", "waw"}
}

// parseOrdering is a value of accumulate_ordering, a list in any order, or none.
func parseOrdering(value string) WinHint {
	if value == noOrdering {
		return OrderNone
	}
	var o AccumulateOrdering
next:
	for item := range strings.SplitSeq(value, ",") {
		for bit, name := range orderings() {
			if strings.TrimSpace(item) == name {
				o |= 1 << bit
				continue next
			}
		}
		return nil
	}
	return o
}

// winHint applies the keys of the Info that are known of windows.
func (i *Info) winHint(o *winOptions) {
	if i == nil {
		return
	}
	for _, k := range winKeys() {
		if v, found := i.Get(k.name); found {
			if h := k.hint(v); h != nil {
				h.winHint(o)
			}
		}
	}
}

// memHint applies the key of the Info that is known of AllocMem.
func (i *Info) memHint(align *int64) {
	v, _ := i.Get(keyMinAlignment)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		MinimumAlignment(n).memHint(align)
	}
}

// with is o changed by hints.
func (o winOptions) with(list []WinHint) winOptions {
	for _, h := range list {
		if h != nil {
			h.winHint(&o)
		}
	}
	return o
}

// winSpec fills in what hints say of a window that is to be made.
func winSpec(s *rma.Spec, list []WinHint) {
	o := winOptions{Options: rma.Options{Ordering: rma.Ordered}}.with(list)
	s.Options, s.Align, s.Noncontig = o.Options, o.align, o.noncontig
}

// setHints changes what hints say of a view of the window, as far as it can be changed.
func (w *Window) setHints(v *rma.View, list []WinHint) {
	o := winOptions{Options: v.Options(), noncontig: w.noncontig.Load()}.with(list)
	v.SetOptions(o.Options)
	w.noncontig.Store(o.noncontig)
}

// SetInfo changes hints of the window: those that can be changed after it was made. Collective over
// the window, with the same hints everywhere, but it does not communicate.
//
// C: MPI_Win_set_info, section 12.2.7.
func (w *Window) SetInfo(list ...WinHint) error {
	if err := w.usable(callSetInfo); err != nil {
		return err
	}
	checkKeys(w.c, callSetInfo, list...)
	w.setHints(w.v, list)
	w.eachThread(func(t *Window) { w.setHints(t.v, list) })
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
