package lint

// basics returns the features of the terms, the environment, memory, errors and hints.
func basics() []Chapter {
	return []Chapter{
		{Title: "Terms", Features: []Feature{
			{"TRM-01", "no needless copies, computation beside communication, threads"},
			{"TRM-02", "an argument that is not significant at a process may have any value there"},
			{"TRM-03", "results do not share memory with other arguments: that is an error"},
			{"TRM-04", "operations are started, complete, and their requests too"},
			{"TRM-05", "after a blocking call its memory can be used again"},
			{"TRM-06", "handles are assigned and compared, and each kind has a type"},
			{"TRM-07", "freeing gives the null handle, and what is pending on the object completes"},
			{"TRM-08", "each kind of object has a null handle, which calls refuse with the class of the kind"},
			{"TRM-09", "the constants that stand for no memory are honoured where they are allowed"},
			{"TRM-10", "predefined handles can be used before initialisation, in variables of a package"},
			{"TRM-11", "one call takes memory of any type"},
			{"TRM-12", "an address is as wide as a pointer, and BOTTOM is where addresses begin"},
			{"TRM-13", "an offset has 8 bytes"},
			{"TRM-14", "all names in the library in C begin with MPI or PMPI, and calls return codes"},
			{"TRM-16", "the header is C and C++, and declares constants, prototypes and types"},
			{"TRM-15", "maxima of strings are one smaller in Fortran than in C"},
			{"TRM-17", "one semantics in all languages"},
		}},
		{Title: "Environment", Features: []Feature{
			{"ENV-01", "the version is a constant, for the preprocessor, too"},
			{"ENV-02", "the version can be asked for at any time"},
			{"ENV-03", "the name of the processor"},
			{"ENV-04", "the overhead of a buffered message is an upper bound"},
			{"ENV-05", "attributes of the environment"},
			{"ENV-06", "whether the library is initialised or finalised is one answer for Go and C"},
			{"ENV-07", "abort ends all processes"},
			{"ENV-09", "the arguments of the program reach all processes, and Init takes none"},
			{"ENV-10", "threads are declared, and then safe"},
			{"ENV-11", "the wrappers of the compiler need no flags"},
			{"ENV-08", "the world is the same in every language"},
			{"ENV-12", "a program in C does not link what is for Fortran"},
		}, Planned: []Plan{
			{withFortran, []Feature{}},
		}},
		{Title: "Allocation of memory", Features: []Feature{
			{"MEM-01", "memory of any size, also 0"},
			{"MEM-02", "it serves wherever other memory does, and is never required"},
			{"MEM-03", "hints change no results"},
			{"MEM-04", "too much is MPI_ERR_NO_MEM"},
			{"MEM-05", "freeing what was not allocated is MPI_ERR_BASE"},
			{"MEM-06", "it lies in memory that processes share, so that windows over it are direct"},
			{"MEM-07", "locks are not restricted to it"},
			{"MEM-08", "both forms of the result in Fortran"},
			{"MEM-09", "the examples of the standard in Fortran"},
		}, Planned: []Plan{
			{withFortran, []Feature{}},
		}},
		{Title: "Errors", Features: []Feature{
			{"ERR-01", "which errors are found, each with a test"},
			{"ERR-02", "the predefined handlers, for communicators and windows"},
			{"ERR-03", "a handler of the program gets the object and the code, once"},
			{"ERR-04", "the handler of a call that completes several operations gets the error of one; members learn of each other's errors"},
			{"ERR-05", "further arguments of a handler in C are documented"},
			{"ERR-06", "a communicator takes predefined handlers and those made for communicators"},
			{"ERR-07", "the handler that is set can be asked for, and what is got can be freed"},
			{"ERR-08", "a handler lives as long as it is set somewhere"},
			{"ERR-09", "a handler for another kind of object is an error"},
			{"ERR-10", "a new communicator inherits the handler"},
			{"ERR-11", "a library saves, sets and restores the handler"},
			{"ERR-12", "handlers of windows"},
			{"ERR-14", "wrong keys are MPI_ERR_KEYVAL"},
			{"ERR-15", "each class has a name and a text"},
			{"ERR-16", "MPI_ERR_IN_STATUS comes only from calls that return statuses of several operations"},
		}, Planned: []Plan{
			{withFiles, []Feature{{"ERR-13", "handlers of files"}}},
		}},
		{Title: "Hints", Features: []Feature{
			{"INF-01", "one value for each key, both case sensitive"},
			{"INF-02", "any pairs are kept"},
			{"INF-03", "unknown keys are ignored"},
			{"INF-04", "a known key does what it says"},
			{"INF-05", "the lengths of keys and values have limits"},
			{"INF-07", "hints are read before a call that does not block returns"},
			{"INF-08", "the forms of booleans, integers and lists"},
			{"INF-06", "spaces around keys and values in Fortran"},
		}, Planned: []Plan{
			{withFortran, []Feature{
				{"INF-09", "hints of one language are read in another"},
			}},
		}},
	}
}
