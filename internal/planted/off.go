//go:build !faults

package planted

// Package apply: elements of accumulates.
const (
	// AddInTwo adds to an element of 8 bytes by a load and a store.
	AddInTwo = false
	// NeighbourStored stores the word around a small element as it was read, neighbours
	// included.
	NeighbourStored = false
	// StripeOfTheEnd has compare_and_swap take the stripe in which an element ends, not the
	// one in which it begins.
	StripeOfTheEnd = false
	// FetchedOutside reads what many elements were before their stripe is locked.
	FetchedOutside = false
	// HalvesStored stores elements of 16 bytes by halves, so that a kill may come between.
	HalvesStored = false
)

// Package shmfmt: stripes, the passive lock, attach tables.
const (
	// ReaderSilent has readers of a stripe not announce themselves.
	ReaderSilent = false
	// ReaderLooksFirst has readers of a stripe look for a writer before they announce
	// themselves, as if the fence between were missing.
	ReaderLooksFirst = false
	// BiasBlind lets a process to which a stripe is biased write beside readers.
	BiasBlind = false
	// WriterNotReaped leaves the claim of a dead writer in its stripe.
	WriterNotReaped = false
	// LockShared drops exclusive locks: they are claimed shared.
	LockShared = false
	// LockTwice grants a lock to a process while another one holds it in a conflicting mode.
	LockTwice = false
	// DrawerPassed ignores claimants of a lock that are drawing a ticket.
	DrawerPassed = false
	// SleepUnannounced lets a process that waits for a lock sleep without announcing it.
	SleepUnannounced = false
	// LateNewsSilent wakes nobody who waits for a lock when a process learns of a death.
	LateNewsSilent = false
	// HolderNotReported does not report to the next holder of a lock that the last one died.
	HolderNotReported = false
	// RangeByOne takes ranges of a lock that overlap by one number for disjoint ones.
	RangeByOne = false
	// WakesOneReader wakes only one of several waiting readers when a lock is released.
	WakesOneReader = false
	// AttachByOne accepts a range that ends one byte after the attached memory.
	AttachByOne = false
)

// Packages heap, node, proc and p2p: memory, waiting, and the pieces of long messages.
const (
	// FreedTwice takes free blocks of a heap for live ones.
	FreedTwice = false
	// BlockDirty does not clear a block of a heap whose memory was in use before.
	BlockDirty = false
	// BellNotRung does not wake a process that sleeps on an oversubscribed node.
	BellNotRung = false
	// WatcherForgotten does not wake goroutines that watch a word when a process dies.
	WatcherForgotten = false
	// ApartAsked leaves tasks and polling to a goroutine that waits apart, which does neither.
	ApartAsked = false
	// CoreKept has pollers keep their cores while they wait for an event that needs further threads.
	CoreKept = false
	// WatchdogAsleep does not wake the watchdog of a process that ends.
	WatchdogAsleep = false
	// MonitorInterrupts has the monitor of Go's runtime interrupt the threads of C.
	MonitorInterrupts = false
	// BatchInherited leaves the policy of the monitor to the threads that it starts.
	BatchInherited = false
	// CoreSpun has waiters poll on although others compute on their cores.
	CoreSpun = false
	// CoreGivenAway has pollers yield their cores again for threads after a yield has lasted for a time slice.
	CoreGivenAway = false
	// AssistUnawaited completes a message before its sender has copied the pieces that it has claimed.
	AssistUnawaited = false
	// PieceOfAnother has a sender claim pieces of the message after the one that it was asked to assist with.
	PieceOfAnother = false
	// NameStale accepts answers to an operation that is over.
	NameStale = false
)

// Package rma: epochs.
const (
	// FenceNotMet lets a fence return without waiting for the other members.
	FenceNotMet = false
	// FenceNotFlushed lets a fence return before the operations of the epoch are complete.
	FenceNotFlushed = false
	// NoFence leaves out the fence of the processor in flush, fence and sync.
	NoFence = false
	// BeforeThePost applies operations at once that must wait for the post of their target.
	BeforeThePost = false
	// GateBeforeQueue lets operations pass those that were deferred before them, once the post
	// is there.
	GateBeforeQueue = false
	// DeferredBackwards carries out deferred operations from the last one to the first.
	DeferredBackwards = false
	// CompleteEarly tells the target that an epoch is complete while operations are under way.
	CompleteEarly = false
	// PostNotRung posts without waking the origin.
	PostNotRung = false
	// WaitOneShort takes an exposure epoch for over when the first of its origins has
	// completed.
	WaitOneShort = false
	// UnlockEarly releases a lock before the operations of the epoch are complete.
	UnlockEarly = false
	// LazyPassed locks a target while the lock of an earlier Lock is still lazy.
	LazyPassed = false
	// EpochForgotten does not resend the operation of an epoch in one frame that found the lock taken.
	EpochForgotten = false
	// EpochUnheld carries out the operation of an epoch in one frame although the lock is taken.
	EpochUnheld = false
	// FallenForgotten forgets that the claims of a dead process to locks are void.
	FallenForgotten = false
	// GrantedBeside grants exclusive locks to processes on other nodes while shared ones are held.
	GrantedBeside = false
	// BoundByOne takes the byte after the end of mapped memory for part of it.
	BoundByOne = false
	// AttachStale uses what was found in an attach table before, although the table has changed.
	AttachStale = false
	// TableTorn does not mark an attach table as changing while it changes.
	TableTorn = false
	// DetourLeft applies an accumulate in shared memory although an earlier one had to go by frames.
	DetourLeft = false
)

// Package rma: frames.
const (
	// FlushShared lets a flush return when an earlier one that is under way is answered.
	FlushShared = false
	// BundlePassed sends operations before the short ones that are held for a coalesced frame.
	BundlePassed = false
	// GetPassed ends an epoch before long gets are answered.
	GetPassed = false
	// FaultMisnamed reports the fault of a refused request with the handle of another request.
	FaultMisnamed = false
	// StrideOfTheLast takes the distance from the first to the last of several held operations for the stride of
	// their run.
	StrideOfTheLast = false
	// ChannelLeft has calls that must cover all channels of a target cover the main one only.
	ChannelLeft = false
	// SignalPassed signals in memory while frames of the same channel are under way.
	SignalPassed = false
	// NoticeEarly notifies of a get before it is answered.
	NoticeEarly = false
	// CounterNotRung does not wake a process that waits for a counter.
	CounterNotRung = false
	// EnvironmentDropped has targets compute accumulates in Go's floating-point environment, not
	// in the origin's.
	EnvironmentDropped = false
	// EnvironmentOfTheFirst computes all accumulates of a coalesced frame in the floating-point environment of the
	// first.
	EnvironmentOfTheFirst = false
)

// Package coll, and the distribution of processes over cores, in package node.
const (
	// EnvironmentOfOthers reduces in the floating-point environment of whoever polls, not in that of
	// the caller.
	EnvironmentOfOthers = false
	// RefusalPublished publishes the number of a collective in a slot that the member refuses, as if
	// it had contributed.
	RefusalPublished = false
	// LengthUntold leaves the length of a contribution out of the digest that the members of a slot compare.
	LengthUntold = false
	// DirectionKept takes the block that a neighbour sends in a direction of a grid for the one that comes from
	// that direction.
	DirectionKept = false
	// EdgesBackwards receives along the edges of a graph from the last one to the first.
	EdgesBackwards = false
	// ReadUnmet returns from a neighbourhood collective while others may still read the blocks.
	ReadUnmet = false
	// StageRefilled fills a stage again while destinations may still read what a member has sent before.
	StageRefilled = false
	// EntryOfTheFirst uses the entry of the first of several edges from a member for all of them.
	EntryOfTheFirst = false
	// MovedAtOnce lets several processes that see the same crowded core leave it at once.
	MovedAtOnce = false
	// CrowdedForEver leaves processes where they are, however uneven they are on the cores.
	CrowdedForEver = false
)

// Package p2p, reusable requests, and the fast paths of code in C.
const (
	// ShunnedOnce discards only those messages of a refused collective that are there already.
	ShunnedOnce = false
	// RefusedPays takes credit for a short send that has found no room, and again for the send that replaces it.
	RefusedPays = false
	// FilledUntold does not tell the fast paths of short messages that there are posted receives or unexpected
	// messages.
	FilledUntold = false
	// QuietUnlooked has a receive in C take all other rings for empty.
	QuietUnlooked = false
	// WaitingForgotten has the watchdog in C find nothing that waits in a ring.
	WaitingForgotten = false
	// CreditUnpaid has C count the credit that it owes as returned, and return none.
	CreditUnpaid = false
	// WantIgnored lets a receive in C keep the engine's lock while another thread wants it.
	WantIgnored = false
	// ArmedFirst has a send in C look whether the receiver sleeps before the message is published.
	ArmedFirst = false
	// SlowPassed lets a receive in C take the next message although there is a reason for the slow path.
	SlowPassed = false
	// PostedAsleep does not wake a sleeping receiver when the lock is released under which a frame for it was
	// posted.
	PostedAsleep = false
	// ImportForgotten has Go take the engine's lock without importing the receives that C has posted.
	ImportForgotten = false
	// PostedBackwards has C match a message with the youngest of the receives that it has posted.
	PostedBackwards = false
	// UnexpectedForgotten has Go import the unexpected messages of C without the oldest.
	UnexpectedForgotten = false
	// UnexpectedBackwards has a receive in C take the youngest of the unexpected messages that it matches.
	UnexpectedBackwards = false
	// UnexpectedPassed has a receive that C posts not look at the unexpected messages.
	UnexpectedPassed = false
	// SentUnnumbered gives a send in C no number by which its message can be cancelled.
	SentUnnumbered = false
	// ElementsUntold has a send in C not tell which elements the message has.
	ElementsUntold = false
	// ReuseEarly reuses a request that is in use.
	ReuseEarly = false
	// RetireTwice completes a reusable request by a load and a store, so that two copies may do so.
	RetireTwice = false
	// LockUnlooked has C take the lock of a target without checking for other claimants.
	LockUnlooked = false
	// UnlockSilent has C release the lock of a target without waking the processes that wait for it.
	UnlockSilent = false
)

// Package rma: extensions.
const (
	// HandleStale accesses memory by a handle that has been released, where it is mapped.
	HandleStale = false
	// HandleKept serves frames that name memory by a handle that has been released.
	HandleKept = false
	// OrderSkipped ignores ordering points.
	OrderSkipped = false
	// NoticeFirst notifies of a put to mapped memory, then puts.
	NoticeFirst = false
	// ScopeOfTheMain has flushes of thread scope cover the main channel, not their own.
	ScopeOfTheMain = false
)

// Several jobs: identities of processes, contexts, and calls that make communicators and windows.
const (
	// ContextOfNobody derives a context from its serial number alone, not from its creator.
	ContextOfNobody = false
	// IndexAsNumber takes the index of a process of another job for a local number.
	IndexAsNumber = false
	// BriefOfTheIndex has handles name a process by its index alone, not by its job.
	BriefOfTheIndex = false
	// StrangersMet takes processes of two groups for ones that have met.
	StrangersMet = false
	// CommitSkipped lets members keep a communicator that others have not made, because a process of another job died.
	CommitSkipped = false
	// BlockNotOffered does not tell members of other jobs where the memory of a window is.
	BlockNotOffered = false
	// BlockOfTheDead takes memory that is gone with its process for memory that cannot be shared.
	BlockOfTheDead = false
	// CommitEarly lets the leader of a job decide although it has lost another leader.
	CommitEarly = false
	// DeathKept takes a process of another job for dead because a dead process had the same number before.
	DeathKept = false
	// HostsOfTheOwnJob takes processes of another job for ones on the hosts of the own job.
	HostsOfTheOwnJob = false
	// TagIgnored has calls that make communicators from groups share a context whatever their tags.
	TagIgnored = false
)

// Sessions.
const (
	// SessionDrained drops messages on communicators of sessions once the world model has ended.
	SessionDrained = false
	// SessionLeavesAtOnce ends a session while other members of its communicators use them.
	SessionLeavesAtOnce = false
	// FreedForgotten ends a session while requests on communicators that were freed are active.
	FreedForgotten = false
)

// Package part.
const (
	// PartitionCountedFirst counts the bytes of a partition as arrived, and then copies them.
	PartitionCountedFirst = false
	// PartitionUnasked copies a partition to the receiver's buffer before the receive is started.
	PartitionUnasked = false
	// PartitionKickedLate has goroutines leave their partitions to one that has already collected
	// what it sends.
	PartitionKickedLate = false
	// StartUnpolled has a process that sends partitions never poll.
	StartUnpolled = false
	// PartitionsNotRung does not wake a receiver whose last partition has arrived.
	PartitionsNotRung = false
)

// Package abi/bind: attributes and callbacks of other languages.
const (
	// IntegerShared has the copy of an attribute that Fortran has set share the integer.
	IntegerShared = false
	// TrueIsOne has logical operations give 1 where Fortran's true has all bits set.
	TrueIsOne = false
	// HookAgain calls the hook of a persistent request again when it is tested once more.
	HookAgain = false
	// DestructorKept calls the destructor of a keyval that has ended, and again at the end.
	DestructorKept = false
)

// Package file; from FenceUncollected on, the start of jobs, pools of workers, processes of other jobs, and
// sockets.
const (
	// SieveByOne copies from one byte too far in a full batch of a read with data sieving.
	SieveByOne = false
	// PositionByOne takes an offset in a hole of a view for the run before the hole.
	PositionByOne = false
	// PartForgotten ignores an element of which the file has only a part.
	PartForgotten = false
	// BirthIgnored takes files of one name on several hosts for the same file if their numbers are equal.
	BirthIgnored = false
	// TypesIgnored has checking mode take data of any type for that of the view.
	TypesIgnored = false
	// EveryoneCreates has all members create a file, not rank 0 alone.
	EveryoneCreates = false
	// PointerStays leaves the file pointer where an access that does not block begins.
	PointerStays = false
	// EndByOne takes the offset one element after the end of a file for the end.
	EndByOne = false
	// HoleWritten lets an aggregator also write the byte before a run of its stage.
	HoleWritten = false
	// DomainByOne lets the domain of an aggregator begin one byte after the end of the previous one.
	DomainByOne = false
	// SharedTwice gives the next access at the shared file pointer the same position.
	SharedTwice = false
	// AtomicUnlocked does not lock the file in atomic mode.
	AtomicUnlocked = false
	// AtomicShared has writes in atomic mode share the lock in memory.
	AtomicShared = false
	// ToldAgain has a verbose job report the way of every access, not of each kind once.
	ToldAgain = false
	// ClosedEarly closes a file while workers access it.
	ClosedEarly = false
	// OwnTimes has a member choose the way of collective accesses by its own times alone.
	OwnTimes = false
	// FarTogether has accesses of few runs that are far apart go through aggregators.
	FarTogether = false
	// ShortTaken takes a write that was short for a whole one.
	ShortTaken = false
	// LockOfTheFirst has an access in atomic mode lock its first byte only.
	LockOfTheFirst = false
	// HoleJoined has aggregators write short holes between runs, too.
	HoleJoined = false
	// FailureUntold has an aggregator keep its error to itself.
	FailureUntold = false
	// ParcelAbandoned has an aggregator that finds a parcel outside of its domain leave the exchange.
	ParcelAbandoned = false
	// PartUnconverted does not convert the basic elements of an element that the file has in part, in a
	// representation of the program.
	PartUnconverted = false
	// HolesForgotten takes the displacement of a view at the shared pointer as if the view before had no holes.
	HolesForgotten = false
	// ElementRounded counts an element of external32 that the file has in part as a whole one.
	ElementRounded = false
	// FenceUncollected has a fence of PMIx collect no values.
	FenceUncollected = false
	// AnswerMixed takes the next frame of a PMI-2 server for the answer to any request.
	AnswerMixed = false
	// PutsOfTheFirst has the server of PMI-1 keep what ranks put before their first barrier only.
	PutsOfTheFirst = false
	// WidthLost has nodes of a Slurm job lose the zeros before their numbers.
	WidthLost = false
	// AnsweredEarly answers a spawn when the first of the processes has called Init.
	AnsweredEarly = false
	// SlotsUncounted does not count the slots that ranks occupy when processes are spawned.
	SlotsUncounted = false
	// LeaveUntold has a leader end without telling the others of its node that it may.
	LeaveUntold = false
	// SegmentKept has a process keep its segments from the next leader of its node.
	SegmentKept = false
	// EndPassesTable has a leader pass an end on before the table of the Exchange before it.
	EndPassesTable = false
	// RankTwice lets two processes of a node join as the same rank.
	RankTwice = false
	// KeyIgnored gives all pairs of processes without a secret of the job the same secret.
	KeyIgnored = false
	// InvitationIgnored lets agents call the launcher without the key of their invitation.
	InvitationIgnored = false
	// FinalizedAgain has the launcher tell all hosts of each rank that may end, not of the first one alone.
	FinalizedAgain = false
	// DoorUnguarded lets processes that no rank has started join by the launcher's socket.
	DoorUnguarded = false
	// SignalsApart has the launcher take a signal that comes at once after the one that ends the job for
	// impatience.
	SignalsApart = false
	// TasksReadAhead has a pool read all arguments before it yields a result.
	TasksReadAhead = false
	// DeadTakesTasks has a worker of a pool that has died take further tasks.
	DeadTakesTasks = false
	// ForeignUnwatched opens no connection with a process of another job that it waits for.
	ForeignUnwatched = false
	// MemoryUndrained takes the end of a connection with a process of another job for the end of what the process has
	// sent through memory.
	MemoryUndrained = false
	// ForeignNotRung does not wake a process of another job that sleeps when a frame for it is in memory.
	ForeignNotRung = false
	// PinIgnored reuses the number of a process that a group still contains.
	PinIgnored = false
	// NumberKept keeps the numbers of processes of other jobs for ever.
	NumberKept = false
	// MetAgainUnwatched opens no connection with a process that was met again while it was left.
	MetAgainUnwatched = false
	// AbandonedAfterProof gives up a call that a process of another job may have accepted.
	AbandonedAfterProof = false
	// CreditKept returns no eager credit before a connection ends.
	CreditKept = false
	// EndBeforeAnswer may report the end of a spawned job before the answer to the request for the job.
	EndBeforeAnswer = false
	// EndUntold has the launcher not tell a process of the end of a job that it has spawned.
	EndUntold = false
	// FarUnheard has a process tell processes of other hosts the loopback address.
	FarUnheard = false
	// HeldOvertaken sends a frame before those that are held for the same peer.
	HeldOvertaken = false
	// HeldAsleep leaves held frames in the process when it is about to sleep.
	HeldAsleep = false
	// AnswersAlone sends each answer to the frames of one read by a system call of its own.
	AnswersAlone = false
	// RequestsAlone sends each request of goroutines that run one after the other at once.
	RequestsAlone = false
	// RunsBeside sends long messages in runs of frames although the process also sends short messages.
	RunsBeside = false
	// TurnGoesOn continues to read in a turn in which a short message has been delivered.
	TurnGoesOn = false
	// PiecesInARow sends several pieces of a long message without polling in between.
	PiecesInARow = false
	// TestedWhole tests all memory of a long message before the message is announced.
	TestedWhole = false
	// TagEnough accepts a caller whose tag is known, whatever it proves.
	TagEnough = false
)
