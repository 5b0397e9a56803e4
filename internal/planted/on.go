//go:build faults

package planted

import (
	"fmt"
	"os"
)

// variable names the fault that is there.
const variable = "HALO_FAULT"

// What each is stands in off.go. They are set before anything else runs, and stay.
var (
	AddInTwo              = chosen("AddInTwo")
	NeighbourStored       = chosen("NeighbourStored")
	StripeOfTheEnd        = chosen("StripeOfTheEnd")
	FetchedOutside        = chosen("FetchedOutside")
	HalvesStored          = chosen("HalvesStored")
	ReaderSilent          = chosen("ReaderSilent")
	ReaderLooksFirst      = chosen("ReaderLooksFirst")
	BiasBlind             = chosen("BiasBlind")
	WriterNotReaped       = chosen("WriterNotReaped")
	LockShared            = chosen("LockShared")
	LockTwice             = chosen("LockTwice")
	DrawerPassed          = chosen("DrawerPassed")
	SleepUnannounced      = chosen("SleepUnannounced")
	HolderNotReported     = chosen("HolderNotReported")
	RangeByOne            = chosen("RangeByOne")
	WakesOneReader        = chosen("WakesOneReader")
	AttachByOne           = chosen("AttachByOne")
	FreedTwice            = chosen("FreedTwice")
	BlockDirty            = chosen("BlockDirty")
	BellNotRung           = chosen("BellNotRung")
	WatcherForgotten      = chosen("WatcherForgotten")
	ApartAsked            = chosen("ApartAsked")
	NameStale             = chosen("NameStale")
	FenceNotMet           = chosen("FenceNotMet")
	FenceNotFlushed       = chosen("FenceNotFlushed")
	NoFence               = chosen("NoFence")
	BeforeThePost         = chosen("BeforeThePost")
	GateBeforeQueue       = chosen("GateBeforeQueue")
	DeferredBackwards     = chosen("DeferredBackwards")
	CompleteEarly         = chosen("CompleteEarly")
	PostNotRung           = chosen("PostNotRung")
	WaitOneShort          = chosen("WaitOneShort")
	UnlockEarly           = chosen("UnlockEarly")
	LazyPassed            = chosen("LazyPassed")
	EpochForgotten        = chosen("EpochForgotten")
	EpochUnheld           = chosen("EpochUnheld")
	FallenForgotten       = chosen("FallenForgotten")
	GrantedBeside         = chosen("GrantedBeside")
	BoundByOne            = chosen("BoundByOne")
	AttachStale           = chosen("AttachStale")
	TableTorn             = chosen("TableTorn")
	DetourLeft            = chosen("DetourLeft")
	FlushShared           = chosen("FlushShared")
	BundlePassed          = chosen("BundlePassed")
	GetPassed             = chosen("GetPassed")
	FaultMisnamed         = chosen("FaultMisnamed")
	StrideOfTheLast       = chosen("StrideOfTheLast")
	ChannelLeft           = chosen("ChannelLeft")
	SignalPassed          = chosen("SignalPassed")
	NoticeEarly           = chosen("NoticeEarly")
	CounterNotRung        = chosen("CounterNotRung")
	EnvironmentDropped    = chosen("EnvironmentDropped")
	EnvironmentOfTheFirst = chosen("EnvironmentOfTheFirst")
	EnvironmentOfOthers   = chosen("EnvironmentOfOthers")
	RefusalPublished      = chosen("RefusalPublished")
	DirectionKept         = chosen("DirectionKept")
	EdgesBackwards        = chosen("EdgesBackwards")
	ReadUnmet             = chosen("ReadUnmet")
	EntryOfTheFirst       = chosen("EntryOfTheFirst")
	BoundAsked            = chosen("BoundAsked")
	CrowdedForEver        = chosen("CrowdedForEver")
	ShunnedOnce           = chosen("ShunnedOnce")
	HandleStale           = chosen("HandleStale")
	HandleKept            = chosen("HandleKept")
	OrderSkipped          = chosen("OrderSkipped")
	NoticeFirst           = chosen("NoticeFirst")
	ScopeOfTheMain        = chosen("ScopeOfTheMain")
	ContextOfNobody       = chosen("ContextOfNobody")
	IndexAsNumber         = chosen("IndexAsNumber")
	TagIgnored            = chosen("TagIgnored")
	SessionDrained        = chosen("SessionDrained")
	SessionLeavesAtOnce   = chosen("SessionLeavesAtOnce")
	PartitionCountedFirst = chosen("PartitionCountedFirst")
	PartitionUnasked      = chosen("PartitionUnasked")
	PartitionKickedLate   = chosen("PartitionKickedLate")
	PartitionsNotRung     = chosen("PartitionsNotRung")
	IntegerShared         = chosen("IntegerShared")
	TrueIsOne             = chosen("TrueIsOne")
	HookAgain             = chosen("HookAgain")
	DestructorKept        = chosen("DestructorKept")
	SieveByOne            = chosen("SieveByOne")
	PositionByOne         = chosen("PositionByOne")
	PartForgotten         = chosen("PartForgotten")
	BirthIgnored          = chosen("BirthIgnored")
	TypesIgnored          = chosen("TypesIgnored")
	EveryoneCreates       = chosen("EveryoneCreates")
	PointerStays          = chosen("PointerStays")
	EndByOne              = chosen("EndByOne")
	HoleWritten           = chosen("HoleWritten")
	DomainByOne           = chosen("DomainByOne")
	SharedTwice           = chosen("SharedTwice")
	AtomicUnlocked        = chosen("AtomicUnlocked")
	AtomicShared          = chosen("AtomicShared")
	ToldAgain             = chosen("ToldAgain")
	ClosedEarly           = chosen("ClosedEarly")
	FarTogether           = chosen("FarTogether")
	ShortTaken            = chosen("ShortTaken")
	LockOfTheFirst        = chosen("LockOfTheFirst")
	HoleJoined            = chosen("HoleJoined")
	FailureUntold         = chosen("FailureUntold")
	ParcelAbandoned       = chosen("ParcelAbandoned")
	PartUnconverted       = chosen("PartUnconverted")
	HolesForgotten        = chosen("HolesForgotten")
	ElementRounded        = chosen("ElementRounded")
	FenceUncollected      = chosen("FenceUncollected")
	AnswerMixed           = chosen("AnswerMixed")
	PutsOfTheFirst        = chosen("PutsOfTheFirst")
	WidthLost             = chosen("WidthLost")
	AnsweredEarly         = chosen("AnsweredEarly")
	SlotsUncounted        = chosen("SlotsUncounted")
	StatusUntold          = chosen("StatusUntold")
	LeaveUntold           = chosen("LeaveUntold")
	SegmentKept           = chosen("SegmentKept")
	EndPassesTable        = chosen("EndPassesTable")
	RankTwice             = chosen("RankTwice")
	KeyIgnored            = chosen("KeyIgnored")
	InvitationIgnored     = chosen("InvitationIgnored")
	FinalizedAgain        = chosen("FinalizedAgain")
	TasksReadAhead        = chosen("TasksReadAhead")
	DeadTakesTasks        = chosen("DeadTakesTasks")
)

// known is how many of them were chosen.
var known int

func chosen(name string) bool {
	is := os.Getenv(variable) == name
	if is {
		known++
	}
	return is
}

// A name that is none would look like a suite that finds nothing.
func init() {
	if name := os.Getenv(variable); name != "" && known != 1 {
		panic(fmt.Sprintf("%s=%q is no planted fault", variable, name))
	}
}
