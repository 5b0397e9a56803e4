package mpi

// Hints are assertions and preferences of a program. They may make Halo faster, but Halo is
// correct without them. Calls that take hints take any number of them. A nil hint has no effect;
// of two that contradict each other the later one counts; one with an invalid value changes
// nothing. An *Info can take the place of hints everywhere: of its keys, which have the names
// and values of the standard, those count that Halo knows for the call. It may also contain keys
// for other implementations. In checking mode Halo reports unknown keys that begin with mpi_ or
// halo_.

// CommHint is a hint for a communicator: NoAnyTag, NoAnySource, ExactLength, AllowOvertaking,
// StrictPersistentOrdering, AssertMemoryAllocKinds, or an *Info with their keys. Dup, Idup, SetInfo and the calls that make
// communicators from groups take them.
//
// C: MPI_Info, section 7.4.4.
type CommHint interface{ commHint(o *commOptions) }

// WinHint is a hint for a window: NoLocks, AccumulateOrdering, AccumulateOps,
// AccumulateGranularity, AccumulateIntrinsic, SameSize, SameDispUnit, SharedNoncontig,
// MinimumAlignment, WinScope, WinOrder, AssertMemoryAllocKinds, or an *Info with their keys.
// SetInfo and all calls that make windows take them.
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

// SplitHint names what SplitType splits by: HwResourceType a type of hardware, PsetName a process set,
// or an *Info with the key of one of them.
//
// C: MPI_Info, section 7.4.2.
type SplitHint interface{ splitHint(o *splitOptions) }

// boolean parses the value of a boolean key; ok is false if it is neither true nor false.
func boolean(value string) (b, ok bool) { return value == "true", value == "true" || value == "false" }
