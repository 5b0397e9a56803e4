package lint

// borders returns the features of what lies between a process and the program, the tools and the machine
// around it.
func borders() []Chapter {
	return []Chapter{
		{Title: "Borders", Features: []Feature{
			{"BRD-01", "signal handlers of the program, also without SA_ONSTACK, are safe in every call"},
			{"BRD-02", "an object that the program has freed serves pending operations and their callbacks"},
			{"BRD-03", "bytes that no type map names are not written, and not sent as data"},
			{"BRD-04", "a rank starts under wrappers that close, keep or reuse descriptors"},
			{"BRD-05", "signals that tools send twice are understood"},
			{"BRD-06", "outputs that fail do not end a job"},
			{"BRD-08", "mistakes are told with the lines of both sides: lengths, tags, buffers in use, cycles, order"},
			{"BRD-09", "the tests pass on a clean, slow, small machine"},
			{"BRD-10", "build tools find Halo"},
		}, Planned: []Plan{
			{"planned with the tests of borders", []Feature{
				{"BRD-07", "waiting on cores that other programs use, too"},
			}},
		}},
	}
}
