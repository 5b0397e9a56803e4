package sys

// Place says which one of the pieces of hardware of a kind a process is on.
type Place struct {
	// Kind is the name that hwloc gives the kind: Package, NUMANode, L3Cache,
	// L2Cache, Core or PU.
	Kind string
	// Instance is the lowest number of a CPU of the piece, which tells it from
	// others on the host; -1 if the process may run on several, or if the system
	// does not tell.
	Instance int
}

// Kinds are the kinds of hardware of a Place, from large to small.
func Kinds() []string {
	return []string{"Package", "NUMANode", "L3Cache", "L2Cache", "Core", "PU"}
}
