package plan

// Binding returns the CPUs on which each rank runs; nil means any.
//
// The default gives each rank an equal share of the cores, not one core: a Go
// program uses several threads, and a single rank should not be restricted to
// the first core of the machine.
func Binding(how string, ranks int, cpus []int) [][]int {
	where := make([][]int, ranks)
	switch {
	case how == "none" || len(cpus) == 0 || how == "" && (ranks > len(cpus) || ranks == 1):
	case how == "core":
		for i := range where {
			k := i % len(cpus)
			where[i] = cpus[k : k+1]
		}
	default:
		for i := range where {
			where[i] = cpus[i*len(cpus)/ranks : (i+1)*len(cpus)/ranks]
		}
	}
	return where
}
