package histories_test

import (
	"fmt"
	"sync"
)

// check checks the receipts of all lanes: each message was received once, and no later one of
// the same sender has overtaken it.
func (h *twoSided) check() error {
	all, _ := results.LoadAndDelete(h)
	if all == nil {
		return nil
	}
	receipts := make([]*matched, len(h.messages)+1)
	for rank := range h.ranks {
		for number := range h.lanes {
			got, _ := all.(*sync.Map).Load([2]int{rank, number})
			for _, g := range got.([]matched) {
				if receipts[g.id] != nil {
					return fmt.Errorf("message %d was received twice", g.id)
				}
				receipts[g.id] = &g
			}
		}
	}
	for _, m := range h.messages {
		if receipts[m.id] == nil {
			return fmt.Errorf("message %d was not received", m.id)
		}
	}
	for i, first := range h.messages {
		for _, second := range h.messages[i+1:] {
			if first.lane != second.lane || first.comm != second.comm || first.src != second.src || first.dst != second.dst {
				continue
			}
			one, two := receipts[first.id], receipts[second.id]
			if (two.by.pattern != anySource || two.by.tag == first.tag) && (two.by.pattern != exact || two.by.tag == first.tag) &&
				one.posted > two.posted {
				return fmt.Errorf("message %d was overtaken by message %d: its receive was posted later", first.id, second.id)
			}
		}
	}
	return nil
}
