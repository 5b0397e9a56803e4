package lint

import (
	"iter"
	"slices"
)

// A Feature is a promise of the project: the id that tests and documents use, and a sentence.
type Feature struct{ ID, Text string }

// A Chapter is a group of features.
type Chapter struct {
	Title    string
	Features []Feature // each has a test
	Planned  []Plan    // none has one
}

// A Plan is features without a test, and why they have none.
type Plan struct {
	Why      string
	Features []Feature
}

// Why features have no test.
const (
	withTools = "planned with the tools interface"
	noCXX     = "none: MPI-3.0 removed the C++ bindings"
)

// Chapters returns the chapters of docs/conformance.md.
func Chapters() []Chapter {
	return slices.Concat(basics(), messages(), objects(), onesided(), later(), seeds(), borders())
}

// all yields the features of c, those without a test, too.
func (c *Chapter) all() iter.Seq[Feature] {
	return func(yield func(Feature) bool) {
		for _, f := range c.Features {
			if !yield(f) {
				return
			}
		}
		for _, p := range c.Planned {
			for _, f := range p.Features {
				if !yield(f) {
					return
				}
			}
		}
	}
}
