package boot

import (
	"strings"
	"testing"
)

func TestExchangeGivesEveryValueToEveryRank(t *testing.T) {
	for name, ranks := range map[string][]Boot{
		"launched": newWorld(t, &testHost{size: 16}).boots(),
		"memory":   Memory(16),
	} {
		t.Run(name, func(t *testing.T) {
			for round := range 20 {
				exchangeAll(t, ranks, round)
			}
		})
	}
}

// The first process that has the values may end the job: the others still get the values, and
// are told of the end later.
func TestExchangeIsCompleteForAllOrNone(t *testing.T) {
	for range 100 {
		h := &testHost{size: 8}
		w := newWorld(t, h)
		h.mu.Lock()
		h.after = func() {
			for _, s := range w.sessions {
				s.Over("of the test")
			}
		}
		h.mu.Unlock()
		exchangeAll(t, w.boots(), 0)
		for _, c := range w.ranks {
			<-c.Lost()
		}
	}
}

func TestExchangeRefusesMoreThanMaxValue(t *testing.T) {
	for name, b := range map[string]Boot{
		"launched": newWorld(t, &testHost{size: 1}).ranks[0],
		"memory":   Memory(1)[0],
	} {
		if _, err := b.Exchange(make([]byte, MaxValue)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := b.Exchange(make([]byte, MaxValue+1)); err == nil {
			t.Errorf("%s: Exchange of %d bytes worked", name, MaxValue+1)
		}
	}
}

func TestExchangeFailsOnceARankHasFinalized(t *testing.T) {
	for name, ranks := range map[string][]Boot{
		"launched": newWorld(t, &testHost{size: 2}).boots(),
		"memory":   Memory(2),
	} {
		if err := ranks[1].Finalize(); err != nil {
			t.Fatal(err)
		}
		if _, err := ranks[0].Exchange(nil); err == nil || !strings.Contains(err.Error(), "rank 1 has called Finalize") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
