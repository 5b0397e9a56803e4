package file

import (
	"fmt"
	"maps"
)

// Hints are what a program prefers for a file. Package mpi reads them.
type Hints struct {
	Perm       uint32 // of a file that is created
	CbNodes    int    // aggregators of collective accesses; 0: chosen
	CbBuffer   int    // bytes of the buffer of an aggregator
	ReadBuffer int    // bytes that an independent read with data sieving reads together
	Sieve      Choice // independent reads may read holes, unless it is Disable
	CbRead     Choice // two phases in collective reads
	CbWrite    Choice // and in collective writes
	Style      Style  // of the accesses of this process

	// Kept are the hints that Halo knows and has no use for, by key. Info tells them. It is immutable.
	Kept map[string]string
}

// Keep adds a hint to Kept.
func (h *Hints) Keep(key, value string) {
	kept := maps.Clone(h.Kept)
	if kept == nil {
		kept = make(map[string]string)
	}
	kept[key] = value
	h.Kept = kept
}

// Style is what the kernel is told about the accesses of a process, which reads ahead accordingly.
type Style uint8

// The styles.
const (
	Ordinary Style = iota
	Sequentially
	Randomly
)

// advised is a store that the kernel can be told about. Advice never fails: it is a hint.
type advised interface {
	Advise(sequential, random bool)
}

// advise tells the kernel how the process accesses the file.
func (f *File) advise(h *Hints) {
	if s, ok := f.store.(advised); ok {
		s.Advise(h.Style == Sequentially, h.Style == Randomly)
	}
}

// Ways describes how accesses are made, as far as hints do not say it: for halo info.
func Ways() string {
	return fmt.Sprintf("collective accesses that interleave go through all members as aggregators, with up to %s in a round, if their runs are shorter than %s (writes) or %s (reads), "+
		"on several hosts %s; on one host both ways are tried if runs are from an eighth to %d times as long and accesses are repeated; independent reads also read holes of up to %s between runs of up to %s; halo run -v says what is chosen",
		size(int64(DefaultHints().CbBuffer)), size(longWrite), size(longStaged), size(longFar), tryFactor, size(sieveHole), size(sieveRun))
}

// Choice says whether a way of access is used.
type Choice uint8

// The choices.
const (
	Automatic Choice = iota
	Enable
	Disable
)

// DefaultHints are the hints of a program that gives none.
func DefaultHints() Hints {
	return Hints{Perm: 0o666, CbBuffer: 4 << 20, ReadBuffer: 4 << 20}
}
