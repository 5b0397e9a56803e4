package file

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
)

// report tells people which way the accesses of a file take and why: each kind of choice once. A file has none unless
// its job is verbose.
type report struct {
	write func(line string)
	told  atomic.Uint64 // a bit for each kind
}

// Report has the file say by write which way accesses take. It is called before the first access.
func (f *File) Report(write func(line string)) { f.report = &report{write: write} }

// first reports whether a kind has not been told yet.
func (r *report) first(d Direction, kind uint) bool {
	bit := uint64(1) << kind
	if d == Write {
		bit <<= 32
	}
	return r.told.Or(bit)&bit == 0 || planted.ToldAgain
}

// reason is why a plan is what it is.
type reason uint8

// The reasons; because says them in words. They and the kinds of independent accesses are the kinds of choices.
const (
	becauseEmpty reason = iota // nothing is told: nobody accesses anything
	becauseAtomic
	becauseTwice
	becauseDisabled
	becauseEnabled
	becauseApart
	becauseLong
	becauseFew
	becauseShort
	becauseTried
	becauseAlone    // as trials have shown, this takes less time
	becauseTogether // likewise

	kindVectors uint = iota // from here on: independent accesses
	kindPacked
	kindRuns
	kindSieved
)

// String returns the word for accesses in this direction, for the middle of a sentence.
func (d Direction) String() string {
	if d == Write {
		return "writes"
	}
	return "reads"
}

// tellPlan tells, at rank 0, how a collective access is made. room is the size in bytes of the stage, 0
// without one.
func (f *File) tellPlan(d Direction, p *plan, room int64) {
	r := f.report
	if r == nil || f.c.Rank != 0 || p.why == becauseEmpty || !r.first(d, uint(p.why)) {
		return
	}
	way := "are made by each member for itself"
	if p.phases {
		q := *p
		through := "messages"
		if room > 0 {
			q.buffer, through = room, "memory of the node"
		}
		s := q.domains(f.c.Size())
		way = fmt.Sprintf("go through %d of %d members by %s (domains of %s, rounds: %d)", s.aggregators, s.members, through, size(s.size), s.rounds)
	}
	r.write(fmt.Sprintf("%s: collective %v %s: %s", f.path, d, way, p.because()))
}

// because returns the reason in words.
func (p *plan) because() string {
	switch p.why {
	case becauseAtomic:
		return "the file is in atomic mode"
	case becauseTwice:
		return "a view has bytes of the file twice"
	case becauseDisabled, becauseEnabled:
		return "the hints say so"
	case becauseApart:
		return "the parts of members do not interleave"
	case becauseLong:
		return fmt.Sprintf("the parts interleave, with runs of %s and more", size(p.limit))
	case becauseTried:
		return "accesses like this are repeated, and both ways are tried"
	case becauseAlone, becauseTogether:
		alone, together := p.trial.ns()
		return fmt.Sprintf("the parts interleave, with runs of %s, and trials took %.1f us by each member for itself, %.1f us through aggregators", size(p.run), float64(alone)/1e3, float64(together)/1e3)
	case becauseFew:
		return fmt.Sprintf("the parts interleave, but with %d runs in %d domains of aggregators", p.runs, p.all)
	}
	return fmt.Sprintf("the parts interleave, with runs of %s, less than %s", size(p.run), size(p.limit))
}

// tellTransfer tells how this member makes an access, unless one system call is enough.
func (f *File) tellTransfer(v *View, m mem.Mem, at int64, d Direction) {
	if _, row := m.Bytes(); !row && v.dense && m.Gathers() {
		f.tellWay(d, kindVectors, "pass blocks of memory to the system as vectors: the view is contiguous, and blocks are long")
	} else if !row {
		f.tellWay(d, kindPacked, fmt.Sprintf("go through pieces of %s: memory is in short blocks, or the view has holes", size(pieceSize)))
	}
	if v.dense {
		return
	}
	var list [batch]run
	n, next := v.tiles.Runs(list[:], at, int64(m.Len()))
	if n == 0 {
		return
	}
	average := size((next - at) / int64(n))
	if d == Write {
		f.tellWay(d, kindRuns, fmt.Sprintf("make a system call for each run, of %s on average: holes are not written", average))
	} else if together, _ := f.sieved(list[:n]); together > 1 {
		f.tellWay(d, kindSieved, fmt.Sprintf("read %d runs at once, of %s on average, with the holes: these are short", together, average))
	} else if f.hints.Load().Sieve == Disable {
		f.tellWay(d, kindRuns, fmt.Sprintf("make a system call for each run, of %s on average: the hints say so", average))
	} else {
		f.tellWay(d, kindRuns, fmt.Sprintf("make a system call for each run, of %s on average: runs or holes are long", average))
	}
}

func (f *File) tellWay(d Direction, kind uint, way string) {
	if f.report.first(d, kind) {
		f.report.write(fmt.Sprintf("%s: %v of rank %d %s", f.path, d, f.c.Rank, way))
	}
}

// size returns a number of bytes as text.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
