package launch

// binding says on which CPUs each rank runs; nil is anywhere.
//
// The default gives each rank an equal share of the cores, not one core: Go
// programs use threads of their own accord, and one that has the machine to
// itself must not be squeezed onto its first core.
func binding(how string, ranks int, cpus []int) [][]int {
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
