package mpi

// Hints say what a program promises, or prefers: Halo may gain from them, and is right without
// them. Calls that take hints take any number of them; a nil one says nothing. Of two that
// contradict each other the later one counts, and one whose value is not legal changes nothing. An
// *Info is a hint wherever hints are taken: it stands for those of its keys that Halo knows there,
// with the names and values of the standard, and it is for what other implementations know, too.
// In checking mode keys that begin with mpi_ or halo_, and that nobody knows, are reported.

// CommHint is a hint for a communicator: NoAnyTag, NoAnySource, ExactLength, AllowOvertaking, or
// an *Info with their keys. Dup, Idup and SetInfo take them.
//
// C: MPI_Info, section 7.4.4.
type CommHint interface{ commHint(h *hints) }

// WinHint is a hint for a window: NoLocks, AccumulateOrdering, AccumulateOps,
// AccumulateGranularity, AccumulateIntrinsic, SameSize, SameDispUnit, SharedNoncontig,
// MinimumAlignment, WinScope, WinOrder, or an *Info with their keys. All calls that make windows
// take them, and SetInfo.
//
// C: MPI_Info, section 12.2.1.
type WinHint interface{ winHint(o *winOptions) }

// MemHint is a hint for AllocMem: MinimumAlignment, or an *Info with its key.
//
// C: MPI_Info, section 9.2.
type MemHint interface{ memHint(align *int64) }

// SyncHint is a hint for SyncOpsInit and SyncObjectInit: SyncRestart, SyncStrict, or an *Info with
// their keys.
//
// C: the argument info of MPIX_Win_sync_ops_init and MPIX_Win_sync_object_init, an extension.
type SyncHint interface{ syncHint(o *syncOptions) error }

// SplitHint says by what SplitType splits: HwResourceType, or an *Info with its key.
//
// C: info key mpi_hw_resource_type, section 7.4.2.
type SplitHint interface{ splitHint(resource *string) }

// boolean is the value of a key that is true or false; neither of them is not ok.
func boolean(value string) (b, ok bool) { return value == "true", value == "true" || value == "false" }
