package mpi

import (
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/rma"
)

// The info keys of windows, and some of their values.
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

// Names that other implementations have for some of these keys; all are booleans.
const (
	aliasScope     = "mpi_win_scope_thread"
	aliasInOrder   = "mpi_win_ordered"
	aliasIntrinsic = "acc_single_intrinsic"
)

// NoLocks asserts that Lock and LockAll are not called. A call of them is ErrRMASync, with ModeNoCheck, by which
// no lock is taken, in checking mode only. The
// default is false. It cannot be changed while the window has duplicates.
//
// C: info key no_locks, section 12.2.1.
type NoLocks bool

// AccumulateOrdering says for which accumulates of one origin to one location the order is kept:
// a sum of OrderRAR, OrderRAW, OrderWAR and OrderWAW, or OrderNone. The default is all four.
//
// C: info key accumulate_ordering, section 12.2.1.
type AccumulateOrdering uint8

// The values of AccumulateOrdering: OrderRAR orders reads after reads, OrderRAW reads after
// writes, and so on.
//
// C: info key accumulate_ordering, section 12.7.2.
const (
	OrderRAR  = AccumulateOrdering(rma.ReadAfterRead)
	OrderRAW  = AccumulateOrdering(rma.ReadAfterWrite)
	OrderWAR  = AccumulateOrdering(rma.WriteAfterRead)
	OrderWAW  = AccumulateOrdering(rma.WriteAfterWrite)
	OrderNone = AccumulateOrdering(0)
)

// AccumulateOps asserts which operations concurrent accumulates to one location use. Halo does
// not use it for optimization; all operations are atomic with each other.
//
// C: info key accumulate_ops, section 12.2.1.
type AccumulateOps uint8

// The values of AccumulateOps: the same operation or NoOp, which is the default; and the same
// operation.
//
// C: info key accumulate_ops, section 12.2.1.
const (
	SameOpNoOp AccumulateOps = iota
	SameOp
)

// AccumulateGranularity is the number of bytes up to which accumulates are divided, for a window
// that is being made. With 0, the default, long accumulates are as fast as possible, and block
// other accesses to their memory meanwhile; with other values each element is updated
// separately.
//
// C: info key mpi_accumulate_granularity, section 12.2.1.
type AccumulateGranularity int64

// AccumulateIntrinsic asserts that all accumulates on the window, or duplicate, are ones for
// which OpIntrinsic is true; others may not be atomic. The default is false. It remains false on
// machines where OpIntrinsic is never true.
//
// C: info key mpi_assert_accumulate_intrinsic, an extension.
type AccumulateIntrinsic bool

// SameSize asserts that the memory of all members has the same size. The default is false. It
// cannot be changed while the window has duplicates.
//
// C: info key same_size, section 12.2.1.
type SameSize bool

// SameDispUnit asserts that all members have the same displacement unit. The default is false.
// It cannot be changed while the window has duplicates.
//
// C: info key same_disp_unit, section 12.2.1.
type SameDispUnit bool

// SharedNoncontig allows WinAllocateShared to allocate memory that is not contiguous between
// members. The default is false. SetInfo stores a new value, which has no effect.
//
// C: info key alloc_shared_noncontig, section 12.2.3.
type SharedNoncontig bool

// MinimumAlignment is the alignment, in bytes, of the memory of AllocMem, WinAllocate or
// WinAllocateShared: a power of two of at most 1 GiB. The default is 64.
//
// C: info key mpi_minimum_memory_alignment, sections 9.2 and 12.2.2.
type MinimumAlignment int64

// WinScope says which operations the flushes of the window, or duplicate, cover. The end of an
// epoch always covers all. It must be set before operations are issued.
//
// C: info key mpi_win_scope, an extension.
type WinScope uint8

// The values of WinScope. ScopeProcess, the default, covers all operations of the process;
// ScopeThread covers only operations that were issued on the window, or duplicate, itself.
//
// C: info key mpi_win_scope, an extension.
const (
	ScopeProcess WinScope = iota
	ScopeThread
)

// WinOrder asks that operations on the window, or duplicate, to one target complete there in the
// order in which they were issued. The default is false.
//
// C: info key mpi_win_order, an extension.
type WinOrder bool

// winOptions is the hints for a window.
type winOptions struct {
	rma.Options
	align     int64 // 0: the default
	noncontig bool
	kinds     *string // see commOptions
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

// A winKey is an info key, and a function that converts its value to a hint, or to nil if the
// value is invalid.
type winKey struct {
	name string
	hint func(value string) WinHint
}

// winKeys are the info keys of windows. Names of the standard come after those of other
// implementations, so that they take precedence if both are present.
func winKeys() [15]winKey {
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
		{keyAssertKinds, func(value string) WinHint { return AssertMemoryAllocKinds(value) }},
	}
}

// truth converts the value of a boolean key.
func truth[H interface {
	~bool
	WinHint
}](value string) WinHint {
	if b, ok := boolean(value); ok {
		return H(b)
	}
	return nil
}

// number converts the value of a key that is a number.
func number[H interface {
	~int64
	WinHint
}](value string) WinHint {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return H(n)
	}
	return nil
}

// choice converts the value of a key with two values.
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

// orderings are the items of the values of accumulate_ordering, by bit.
func orderings() [orderingElements]string {
	return [orderingElements]string{"rar", "raw", "war", "waw"}
}

// parseOrdering converts a value of accumulate_ordering: a list in any order, or none.
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

// winHint applies those keys of the Info that are known for windows.
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

// memHint applies the key of the Info that is known for AllocMem.
func (i *Info) memHint(align *int64) {
	v, _ := i.Get(keyMinAlignment)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		MinimumAlignment(n).memHint(align)
	}
}

// with returns o as changed by hints.
func (o winOptions) with(list []WinHint) winOptions {
	for _, h := range list {
		if h != nil {
			h.winHint(&o)
		}
	}
	return o
}

// winSpec sets the hints for a window that will be made, and returns all of them.
func winSpec(s *rma.Spec, list []WinHint) winOptions {
	o := winOptions{Options: rma.Options{Ordering: rma.Ordered}}.with(list)
	s.Options, s.Align, s.Noncontig = o.Options, o.align, o.noncontig
	return o
}

// setHints changes those hints of a view of the window that can be changed.
func (w *Window) setHints(v *rma.View, list []WinHint) {
	o := winOptions{Options: v.Options(), noncontig: w.noncontig.Load()}.with(list)
	v.SetOptions(o.Options)
	w.noncontig.Store(o.noncontig)
	w.asserted.set(o.kinds, w.c.self.kinds)
}

// SetInfo changes hints of the window, as far as they can be changed after it was made. It is
// collective over the window, and all members pass the same hints, but it does not communicate.
//
// C: MPI_Win_set_info, section 12.2.7.
func (w *Window) SetInfo(list ...WinHint) error {
	if err := w.usable(call.WinSetInfo); err != nil {
		return err
	}
	checkKeys(w.c, call.WinSetInfo, list...)
	w.setHints(w.v, list)
	w.eachThread(func(t *Window) { w.setHints(t.v, list) })
	return nil
}

// Info returns all known hints for windows of this flavor, with the values that were set or else
// the defaults.
//
// C: MPI_Win_get_info, section 12.2.7.
func (w *Window) Info() (*Info, error) {
	if err := w.usable(call.WinGetInfo); err != nil {
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
	for _, p := range append(pairs, w.asserted.pairs(w.c.self.kinds)...) {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// orderingText formats a value of accumulate_ordering.
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
