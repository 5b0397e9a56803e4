package agree

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Elements is a number of elements of a type, or of bytes without one.
type Elements struct {
	Type *dtype.Type // nil for bytes
	N    int64
}

// ElementsOf returns the number and type of the elements in memory of a side.
func ElementsOf(d mem.Mem, width int, t *dtype.Type) Elements {
	if t == nil || width == 0 {
		return Elements{nil, int64(d.Len())}
	}
	return Elements{t, int64(d.Len() / width)}
}

// String describes them for errors.
func (x Elements) String() string {
	if x.Type == nil {
		return fmt.Sprintf("%d bytes", x.N)
	}
	return x.Type.Describe(x.N)
}

// Signature returns the signature that is compared.
func (x Elements) Signature() dtype.Signature {
	if x.Type == nil {
		return dtype.Signature{Elements: x.N, Bytes: x.N, Raw: true}
	}
	return x.Type.Signature(x.N)
}

// A Claim is a number of elements of a type that a member sends.
type Claim struct {
	dtype.Signature
	Text string
}

// Expected is what a member expects from another one. Texts are made only for errors, unless they are given.
type Expected struct {
	Claim          // if it has no Text, Like describes it
	Like  Elements // as many elements of their type; none if there are several types, or only the types of operands are compared
	Gives bool     // all members give the same, such as the operands of a reduction
}

// describe returns the text for errors.
func (x *Expected) describe() string {
	if x.Text == "" {
		return x.Like.String()
	}
	return x.Text
}

// Judge compares what all members tell this one, whose rank is me, with what it calls itself. expect returns what
// this member expects from a rank, false if nothing is to be compared.
func Judge(k kind.Kind, me int, told []Record, expect func(r int) (Expected, bool)) *Finding {
	mine := &told[me]
	show := func(b []byte) string { return callsite.Printable(Text(b)) }
	// differ makes a finding that names two ranks, the lower one first.
	differ := func(cl class.Class, r int, format string, what func(x *Record) string) *Finding {
		lo, hi := min(r, me), max(r, me)
		return found(cl, pair(told, r, me), format, lo, what(&told[lo]), hi, what(&told[hi]))
	}
	for r := range told {
		if x := &told[r]; x.Kind != mine.Kind || x.Call != mine.Call {
			return differ(class.Other, r, "rank %d calls %s, rank %d calls %s", func(x *Record) string { return show(x.Call[:]) })
		}
	}
	for r := range told {
		if x := &told[r]; x.Class != 0 {
			return found(ClassOf(x.Class), callsite.Pair(r, placed(x), r, ""), "rank %d: %s", r, show(x.Detail[:]))
		}
	}
	for r := range told {
		x := &told[r]
		switch {
		case k.Rooted() && x.Root != mine.Root:
			return differ(class.Root, r, "rank %d names root %s, rank %d names root %s", func(x *Record) string { return fmt.Sprint(x.Root) })
		case x.Op != mine.Op:
			return differ(class.Op, r, "rank %d combines by %s, rank %d by %s", func(x *Record) string { return show(x.Op[:]) })
		case x.Counts != mine.Counts:
			return differ(class.Count, r, "rank %d divides the result into %s elements, rank %d into %s", func(x *Record) string { return show(x.Detail[:]) })
		}
	}
	for r := range told {
		want, any := expect(r)
		if !any {
			continue
		}
		if f := compare(k, r, &told[r], me, &want, pair(told, r, me)); f != nil {
			return f
		}
	}
	return &Finding{}
}

// compare compares what rank r will send with what the member of rank me expects from it.
func compare(k kind.Kind, r int, x *Record, me int, want *Expected, at string) *Finding {
	sent := dtype.Signature{Elements: x.Elements, Bytes: x.Bytes, Hash: x.Hash, Raw: x.Raw != 0}
	cl := disagree(sent, want.Signature, want.Like)
	if cl == class.Success {
		return nil
	}
	text := callsite.Printable(Text(x.Text[:]))
	if text == "" && k.Neighborhood() {
		text = "nothing"
	}
	format := "rank %d sends %s, rank %d receives %s"
	if want.Gives {
		format = "rank %d gives %s, rank %d gives %s"
	}
	return found(cl, at, format, r, text, me, want.describe())
}

// disagree returns the class of the error if what is sent is not what is expected: Count if only
// the number of elements differs. Bytes without a type match any type.
func disagree(sent, expected dtype.Signature, want Elements) class.Class {
	switch {
	case sent == expected:
		return class.Success
	case sent.Elements < 0 || sent.Bytes < 0:
		return class.Intern
	case sent.Raw || expected.Raw || sent.Elements == 0 || expected.Elements == 0:
		if sent.Bytes == expected.Bytes {
			return class.Success
		}
		return class.Count
	case sent.Hash == expected.Hash: // the same type of operands
		return class.Count
	case want.Type != nil && want.Type.Size() > 0 && sent.Check(want.Type, sent.Bytes/want.Type.Size()+1) == nil:
		return class.Count
	}
	return class.Type
}

// placed is where the member that has told x calls, and pair where two members do: the end of a finding.
func placed(x *Record) string { return callsite.Printable(Text(x.At[:])) }

func pair(told []Record, r, me int) string {
	return callsite.Pair(r, placed(&told[r]), me, placed(&told[me]))
}

// found returns a finding. at, which says where the members call, is not cut.
func found(cl class.Class, at, format string, args ...any) *Finding {
	f := &Finding{Class: uint32(cl)}
	text := fmt.Sprintf(format, args...)
	copy(f.Text[:], text[:min(len(text), len(f.Text)-len(at))]+at)
	return f
}
