package main

// sought is a fault of package planted, and the tests that are to find it.
type sought struct {
	name  string
	tests []trial
}

// trial is some tests of a package.
type trial struct {
	pkg string // folder
	run string // as for go test -run
}

// by is a fault that some tests of one package are to find.
func by(name, pkg, run string) sought { return sought{name, []trial{{pkg, run}}} }

// faults are all that can be planted, in the order of package planted.
func faults() []sought {
	const apply, shmfmt, heap, rma, mpi = "internal/apply", "internal/shmfmt", "internal/heap", "internal/rma", "mpi"
	const dtype, file = "internal/dtype", "internal/file"
	const node, proc, p2p, histories, coll = "internal/node", "internal/proc", "internal/p2p", "mpi/histories", "internal/coll"
	const bind = "abi/bind"
	return []sought{
		by("AddInTwo", apply, "TestF3_KilledAnywhere|TestRC17_SumsAreExact"),
		by("NeighbourStored", apply, "TestRC11_SomebodyComesInBetween|TestRC11_AnyOrderOfEveryOperation"),
		by("StripeOfTheEnd", apply, "TestRC06_ElementsAcrossTheEndOfAStripe"),
		by("FetchedOutside", apply, "TestRC17_SumsAreExact"),
		by("HalvesStored", apply, "TestF2_KilledAfterAnyInstruction"),
		by("ReaderSilent", apply, "TestRC05_HotElements|TestRC11_SomebodyComesInBetween"),
		by("ReaderLooksFirst", apply, "TestRC05_HotElements|TestRC11_SomebodyComesInBetween"),
		by("BiasBlind", shmfmt, "TestStripesBias"),
		by("WriterNotReaped", shmfmt, "TestF3_StripesAreReaped"),
		by("LockShared", rma, "TestRW09_ExclusiveCounter|TestRW09_LocksExclude"),
		by("LockTwice", rma, "TestRW09_ExclusiveCounter|TestRW09_LocksExclude"),
		by("DrawerPassed", shmfmt, "TestLockHistories"),
		by("SleepUnannounced", shmfmt, "TestLockHistories"),
		by("HolderNotReported", shmfmt, "TestF3_LockHistoriesWithDeaths|TestF3_KilledAtAnyMoment"),
		by("RangeByOne", shmfmt, "TestLockHistories"),
		by("WakesOneReader", rma, "TestRS03_ReadersWakeTogether"),
		by("AttachByOne", rma, "TestRW05_AttachAndDetach"),
		by("FreedTwice", heap, "TestMEM05Names"),
		by("BlockDirty", heap, "TestBlocksKeepWhatIsInThem"),
		by("BellNotRung", node, "TestPeerThatCannotBeWokenIsLost"),
		by("WatcherForgotten", rma, "TestF3_LockOfTheDead"),
		by("ApartAsked", proc, "TestWaitersApartAreNotAsked"),
		by("NameStale", rma, "TestS6_ForgedAnswers"),
		by("FenceNotMet", rma, "TestRS01_FencePhases|TestRS04_RandomPhases"),
		by("FenceNotFlushed", histories, "^TestWindowHistories$/@01"),
		by("NoFence", rma, "TestXRMA07_StoreBuffers"),
		by("BeforeThePost", rma, "TestXRMA17"),
		by("GateBeforeQueue", rma, "TestXRMA17"),
		by("DeferredBackwards", histories, "^TestWindowHistories$/@01"),
		by("CompleteEarly", rma, "TestHistories|TestRS02"),
		by("PostNotRung", rma, "TestRS02_PostsAndEndsWake"),
		by("WaitOneShort", rma, "TestRS02_PostStartCompleteWait"),
		by("UnlockEarly", histories, "^TestWindowHistories$/@01"),
		by("LazyPassed", rma, "TestRW09_LocksKeepTheirOrder"),
		by("EpochForgotten", rma, "TestRW09_ShortEpochs"),
		by("EpochUnheld", rma, "TestRW09_ShortEpochs"),
		by("FallenForgotten", rma, "TestF3_LockOfTheDead"),
		by("GrantedBeside", rma, "TestRW09_ServiceGrantsInOrder"),
		by("BoundByOne", rma, "TestRC18_Bounds"),
		by("AttachStale", rma, "TestRW05_AttachAndDetach"),
		by("TableTorn", rma, "TestRW05_OthersComeAndGo"),
		by("DetourLeft", rma, "TestRW08_OrderAcrossRegions"),
		by("FlushShared", rma, "TestRS06_FlushedIsThere"),
		by("BundlePassed", mpi, "TestQV08_GetsAndPutsInOrder"),
		by("GetPassed", mpi, "TestRS02_WaitComesAfterLongGets|TestRS03_LocksComeAfterLongGets"),
		by("FaultMisnamed", rma, "TestS5RW05_DetachedMemory"),
		by("StrideOfTheLast", rma, "TestShortPutsGoTogether"),
		by("ChannelLeft", rma, "TestQV05_SettlingCoversAllChannels"),
		by("SignalPassed", rma, "TestSignalsFollowWhatWasSent"),
		by("NoticeEarly", rma, "TestNotificationsFollowLongGets"),
		by("CounterNotRung", rma, "TestCountersWake"),
		by("EnvironmentDropped", mpi, "TestRC17_Environments"),
		by("EnvironmentOfTheFirst", mpi, "TestRC17_Environments"),
		by("EnvironmentOfOthers", mpi, "TestCOL14_Environments"),
		by("RefusalPublished", mpi, "TestERR04_MembersLearnOfWrongArguments"),
		by("DirectionKept", mpi, "TestXNBC01_COL15_NeighborsInGrids"),
		by("EdgesBackwards", coll, "TestRandomHistories"),
		by("ReadUnmet", coll, "TestXNBC01_LongBlocksIntoLayouts"),
		by("EntryOfTheFirst", mpi, "TestXNBC01_TOP05_NeighborsInDistGraphs"),
		by("CrowdedForEver", coll, "TestMembersSpreadOverCores"),
		by("BoundAsked", coll, "TestMembersSpreadOverCores"),
		by("ShunnedOnce", p2p, "TestERR04_MessagesOfRefusedCollectives"),
		by("HandleStale", mpi, "TestQV32_S5_NothingAfterTheRelease"),
		by("HandleKept", rma, "TestS5_QV32_ForgedKeys"),
		by("OrderSkipped", mpi, "TestQV14_NothingPassesAnOrder"),
		by("NoticeFirst", mpi, "TestQV38_CountersVouchForTheirOwn|TestQV38_StreamOfNotifiedPuts"),
		by("ScopeOfTheMain", mpi, "TestQV04_ThreadScope"),
		by("ContextOfNobody", proc, "TestContexts"),
		by("IndexAsNumber", proc, "TestListsOfProcessesTravel"),
		by("TagIgnored", mpi, "TestXSES01_TagsTellCallsApart"),
		by("SessionDrained", mpi, "TestXSES01_SessionsAndTheWorldModel"),
		by("SessionLeavesAtOnce", mpi, "TestXSES01_FinalizeWaitsForTheOthers"),
		by("PartitionCountedFirst", mpi, "TestXPRT01_EightGoroutines"),
		by("PartitionUnasked", mpi, "TestXPRT01_ReadyBeforeTheReceive"),
		by("PartitionKickedLate", mpi, "TestXPRT01_EightGoroutines"),
		by("PartitionsNotRung", mpi, "TestXPRT01_SleepersAreWoken"),
		by("IntegerShared", bind, "TestLNG10_AttributesOfTwoLanguages"),
		by("TrueIsOne", "internal/op", "TestDT02_LogicalsOfAllOnes"),
		by("HookAgain", bind, "TestHooksOfRequests"),
		by("DestructorKept", bind, "TestDestructorsAreCalledOnce"),
		by("SieveByOne", file, "TestIO04_RandomViews"),
		by("PositionByOne", dtype, "TestIO03_PositionIsTheInverseOfRuns"),
		by("PartForgotten", dtype, "TestIO16_IO17_ElementsWithinAFile"),
		by("BirthIgnored", mpi, "TestXCOM01_IO21_NamespacedHosts"),
		by("TypesIgnored", mpi, "TestIO19_TypesOfDataAndView"),
		by("EveryoneCreates", mpi, "TestIO21_Modes"),
		by("PointerStays", mpi, "TestIO05_IO02_Requests"),
		by("EndByOne", mpi, "TestIO22_Seek"),
		by("HoleWritten", mpi, "TestIO01_XIO01_CollectiveForms"),
		by("DomainByOne", mpi, "TestIO01_RandomCollectives"),
		by("SharedTwice", mpi, "TestXIO01_SharedPointer"),
		by("AtomicUnlocked", mpi, "TestXIO01_Atomicity"),
		by("AtomicShared", mpi, "TestXIO01_Atomicity"),
		by("ToldAgain", file, "TestIO01_ChoicesAreTold"),
		by("ClosedEarly", file, "TestIO05_CloseWaitsForWorkers"),
		by("ShortTaken", histories, "TestFileHistoriesOfShortTransfers"),
		by("LockOfTheFirst", mpi, "TestXIO01_Atomicity"),
		by("HoleJoined", mpi, "TestIO01_XIO01_CollectiveForms"),
		by("FailureUntold", file, "TestIO06_ErrorsInEveryCall"),
		by("ParcelAbandoned", file, "TestIO01_ParcelsOutsideOfTheDomain"),
		by("PartUnconverted", histories, "TestFileHistories$"),
		by("HolesForgotten", histories, "TestFileHistories$"),
		by("ElementRounded", histories, "TestFileHistories$"),
		by("FenceUncollected", "internal/boot/pmix", "TestXLCH01_NobodyLeavesAFenceBeforeTheLastEnters"),
		by("AnswerMixed", "internal/boot/pmi2", "TestXLCH01_AnswersThatContradictTheProtocolAreErrors"),
		by("PutsOfTheFirst", "internal/boot/pmi1", "TestServerBarriers"),
		by("WidthLost", "internal/launch", "TestSlurmNodes"),
	}
}
