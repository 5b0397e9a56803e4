package match

import (
	"math/rand/v2"
	"testing"
)

// A table tells whether receives are posted and messages unexpected, at any depth.
func TestTellKeepsTwoBits(t *testing.T) {
	const posted, unexpected, other = 4, 16, 2
	tab, slow := New[int, int](rand.Uint64()), uint32(other)
	tab.Tell(&slow, posted, unexpected)
	var receives, messages []*Node[int]
	check := func() {
		t.Helper()
		want := uint32(other)
		if tab.Posted() > 0 {
			want |= posted
		}
		if tab.Unexpected() > 0 {
			want |= unexpected
		}
		if slow != want {
			t.Fatalf("%d receives and %d messages: the word is %#x, want %#x", tab.Posted(), tab.Unexpected(), slow, want)
		}
	}
	for _, depth := range []int{1, 3, 40, 20_000} {
		for i := range depth {
			r := &Node[int]{Key: Key{Ctx: 1, Src: 2, Tag: int32(i)}}
			tab.Post(r)
			m := &Node[int]{Key: Key{Ctx: 2, Src: 2, Tag: int32(i)}}
			tab.Arrive(m.Key)
			check()
			tab.Add(m)
			receives, messages = append(receives, r), append(messages, m)
			check()
		}
		for i := range depth {
			if i%2 == 0 {
				tab.Cancel(receives[i])
				tab.Remove(messages[i])
			} else {
				tab.Arrive(receives[i].Key)
				tab.Post(&Node[int]{Key: messages[i].Key})
			}
			check()
		}
		receives, messages = receives[:0], messages[:0]
		// Additions to a short queue free the memory of the peak.
		for range keepAdds + 2 {
			r := &Node[int]{Key: Key{Ctx: 3, Src: 1, Tag: 1}}
			tab.Post(r)
			check()
			tab.Cancel(r)
			check()
		}
	}
}
