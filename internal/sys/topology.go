package sys

// Place is the piece of hardware of one kind that a process runs on.
type Place struct {
	// Kind is the name that hwloc gives the kind: Package, NUMANode, L3Cache,
	// L2Cache, Core or PU.
	Kind string
	// Instance is the lowest number of a CPU of the piece, which identifies the piece on the
	// host. It is -1 if the process may run on several pieces, or if the system does not report
	// them.
	Instance int
}

// Kinds returns the kinds of hardware of a Place, from large to small.
func Kinds() []string {
	return []string{"Package", "NUMANode", "L3Cache", "L2Cache", "Core", "PU"}
}
