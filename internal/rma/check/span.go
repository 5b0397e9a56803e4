package check

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// span is the bytes [lo, hi) of a target's memory, by offset, or by address in dynamic windows; or
// the bytes [lo, hi) of memory of this process, by address.
type span struct{ lo, hi uint64 }

// overlap returns the common bytes of a and b; the result is empty if there are none.
func (a span) overlap(b span) span { return span{max(a.lo, b.lo), min(a.hi, b.hi)} }

func (a span) empty() bool { return a.lo >= a.hi }

// appendSpan appends s, or extends the last span if s continues it.
func appendSpan(list []span, s span) []span {
	if n := len(list); n > 0 && list[n-1].hi == s.lo {
		list[n-1].hi = s.hi
		return list
	}
	return append(list, s)
}

// common returns the first overlap of two lists.
func common(a, b []span) (span, bool) {
	for _, x := range a {
		for _, y := range b {
			if z := x.overlap(y); !z.empty() {
				return z, true
			}
		}
	}
	return span{}, false
}

// spanSet is a list of spans in order, which neither overlap nor are adjacent.
type spanSet struct{ list []span }

// at returns the index of the first span that ends at lo or after it.
func (s *spanSet) at(lo uint64) int {
	i, _ := slices.BinarySearchFunc(s.list, lo, func(x span, lo uint64) int { return cmp.Compare(x.hi, lo) })
	return i
}

// first returns the first overlap with x.
func (s *spanSet) first(x span) (span, bool) {
	if i := s.at(x.lo + 1); i < len(s.list) {
		common := s.list[i].overlap(x)
		return common, !common.empty()
	}
	return span{}, false
}

// add adds x, and returns by how many the number of spans grows.
func (s *spanSet) add(x span) int {
	before := len(s.list)
	i := s.at(x.lo)
	j := i
	for ; j < len(s.list) && s.list[j].lo <= x.hi; j++ {
		x.lo, x.hi = min(x.lo, s.list[j].lo), max(x.hi, s.list[j].hi)
	}
	s.list = slices.Replace(s.list, i, j, x)
	return len(s.list) - before
}

// remove removes x, and returns by how many the number of spans grows.
func (s *spanSet) remove(x span) int {
	before := len(s.list)
	i := s.at(x.lo + 1)
	j := i
	var rest []span
	for ; j < len(s.list) && s.list[j].lo < x.hi; j++ {
		if left := (span{s.list[j].lo, x.lo}); !left.empty() {
			rest = append(rest, left)
		}
		if right := (span{x.hi, s.list[j].hi}); !right.empty() {
			rest = append(rest, right)
		}
	}
	s.list = slices.Replace(s.list, i, j, rest...)
	return len(s.list) - before
}

// encodeSpans appends a list to b.
func encodeSpans(b []byte, list []span) []byte {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, x.lo), x.hi)
	}
	return b
}

// decodeSpans decodes a list that encodeSpans has written. It reports false for bytes that
// encodeSpans never writes.
func decodeSpans(b []byte) (list []span, ok bool) {
	if len(b)%16 != 0 || len(b) > 16*spansMax {
		return nil, false
	}
	for ; len(b) > 0; b = b[16:] {
		x := span{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
		if x.empty() {
			return nil, false
		}
		list = append(list, x)
	}
	return list, true
}
