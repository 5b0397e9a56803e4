package lint

// A Feature is something that the project promises, by the id under which tests and
// documents know it, in a sentence.
type Feature struct{ ID, Text string }

// A Chapter is features that belong together.
type Chapter struct {
	Title    string
	Features []Feature
}

// Chapters are those of which docs/conformance.md tells the tests.
func Chapters() []Chapter {
	return []Chapter{
		{"Windows", []Feature{
			{"RW-01", "a window over memory that exists: displacements count in the target's unit, sizes and units differ from rank to rank"},
			{"RW-02", "a window that allocates its memory, over which a second window can be made: the two know nothing of each other"},
			{"RW-03", "making and freeing a window is collective over its group, which can be asked for"},
			{"RW-04", "dynamic windows: memory is attached and detached locally, displacements are addresses at the target"},
			{"RW-05", "what is attached can change at the same address: no access goes by what was there before"},
			{"RW-06", "freeing a window ends it and deletes its attributes"},
			{"RW-07", "hints can be set again, and read with their defaults"},
			{"RW-08", "accumulates of one origin to one location are in order, unless a hint gives that up"},
			{"RW-09", "locks are exclusive or shared, and nothing else"},
			{"RW-10", "windows have error handlers, names and attributes"},
		}},
		{"Communication", []Feature{
			{"RC-01", "put: of every type and between all layouts, in every kind of epoch"},
			{"RC-02", "get: likewise"},
			{"RC-03", "accumulate updates each element atomically"},
			{"RC-04", "get_accumulate gives what was there before, atomically with the update"},
			{"RC-05", "fetch_and_op does so for one element, with all operations"},
			{"RC-06", "compare_and_swap on integers, logicals and bytes"},
			{"RC-07", "request forms complete at the origin, and exist in passive epochs only"},
			{"RC-08", "no operation waits for the target; completion comes with the synchronisation that follows"},
			{"RC-09", "memory of the origin is the operation's until it is complete there"},
			{"RC-10", "which concurrent accesses conflict, and that others do not"},
			{"RC-11", "concurrent accumulates on a location act in some order"},
			{"RC-12", "stores concurrent with updates of the same location have no defined outcome, others are unharmed"},
			{"RC-13", "layouts on both sides in one call, with the same sequence of basic types"},
			{"RC-14", "a process may be its own target in every call"},
			{"RC-15", "no process as the target: nothing happens, and epochs go on"},
			{"RC-16", "Replace is an atomic put by elements"},
			{"RC-17", "atomicity holds between calls on one element and on many"},
			{"RC-18", "no access reaches beyond the target's memory"},
		}},
		{"Synchronisation", []Feature{
			{"RS-01", "fence: what came before it is complete at origin and target"},
			{"RS-02", "post, start, complete, wait: with any groups"},
			{"RS-03", "locks protect the owner's own accesses, too"},
			{"RS-04", "ways of synchronising can be switched between epochs"},
			{"RS-05", "updates may be visible before they must be"},
			{"RS-06", "flush completes what all threads have issued, at one target or all, at both sides or the origin"},
			{"RS-07", "flush is local: no target takes part"},
			{"RS-08", "passive targets make no calls"},
			{"RS-09", "complete returns without the target's wait"},
			{"RS-10", "a target that is locked cannot be locked again by the same process"},
		}},
		{"Memory", []Feature{
			{"RM-01", "a store under an exclusive lock is seen by who locks later (example 11.11)"},
			{"RM-02", "a put under a lock is seen by the owner who locks later (example 11.12)"},
			{"RM-03", "a store without the lock may be seen or not, and is not torn (example 11.13)"},
			{"RM-04", "what was stored before post is gotten; what was put locally while posted, too (example 11.14)"},
			{"RM-05", "what was put is loaded after wait, or gotten (example 11.15)"},
			{"RM-06", "a put to the own window is in memory after wait"},
			{"RM-07", "the memory model is unified, and says so"},
			{"RM-08", "compilers keep no window memory in registers over synchronisation"},
		}},
		{"Beyond the seeds", []Feature{
			{"X-RMA-01", "the six ways to have window memory, and the attributes that tell of them"},
			{"X-RMA-02", "shared windows lie one behind the other, or where each likes; they want ranks that share memory"},
			{"X-RMA-03", "shared_query on all kinds of windows, and of no rank"},
			{"X-RMA-04", "lock_all, and the four flushes, in passive epochs only"},
			{"X-RMA-05", "sync is a memory barrier"},
			{"X-RMA-06", "the state machine of epochs: each illegal step is refused and changes nothing"},
			{"X-RMA-07", "the rules of the unified model"},
			{"X-RMA-08", "assertions: which calls take which, and that results are the same"},
			{"X-RMA-09", "NoOp and Replace are for one-sided calls, user operations are not"},
			{"X-RMA-10", "hints of accumulates, sizes, units and locks"},
			{"X-RMA-11", "elements that are not aligned are safe"},
			{"X-RMA-12", "sums and differences of addresses"},
			{"X-RMA-13", "locks on windows over any memory"},
			{"X-RMA-14", "alignment of allocated memory by a hint"},
			{"X-RMA-15", "counts and units beyond 2^31"},
			{"X-RMA-16", "granularity of accumulates by a hint, with the same results"},
			{"X-RMA-17", "start and operations return before the target posts"},
			{"X-RMA-18", "a Test that is repeated succeeds in the end"},
			{"X-RMA-19", "each error class of one-sided calls can be met"},
			{"X-RMA-20", "groups, error handlers and the end of windows of each kind"},
			{"X-RMA-21", "empty groups, oneself in the group, exposures one behind the other"},
			{"X-RMA-22", "shared windows take active and passive synchronisation"},
		}},
	}
}
