package shmfmt

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Each piece is claimed once, by one of the two sides, and the receiver sees the end only when the sender
// has copied what it has claimed.
func TestPiecesAreClaimedOnce(t *testing.T) {
	const n = 40
	var p Pieces
	for use := uint32(1); use <= 500; use++ {
		var got [n]atomic.Int32
		p.Open(use, n)
		var sender sync.WaitGroup
		sender.Go(func() {
			copied := 0
			for i, ok := p.Back(use); ok; i, ok = p.Back(use) {
				got[i].Add(1)
				copied++
				p.Copied(use, copied, true)
			}
		})
		for i, ok := p.Front(); ok; i, ok = p.Front() {
			got[i].Add(1)
		}
		for ended, ok := p.Ended(use, n); !ended; ended, ok = p.Ended(use, n) {
			if !ok {
				t.Fatal("a piece could not be copied")
			}
		}
		for i := range got {
			if k := got[i].Load(); k != 1 {
				t.Fatalf("use %d: piece %d was copied %d times", use, i, k)
			}
		}
		sender.Wait()
	}
}

func TestPiecesOfAnotherUse(t *testing.T) {
	var p Pieces
	p.Open(1, 2)
	if i, ok := p.Back(1); i != 1 || !ok {
		t.Fatalf("the last piece is %d, %t", i, ok)
	}
	p.Copied(1, 1, true)
	if ended, _ := p.Ended(1, 2); ended || !p.Left() {
		t.Error("the use ends while a piece is left")
	}
	p.Front()
	if ended, ok := p.Ended(1, 2); !ended || !ok {
		t.Errorf("the use has ended: %t, %t", ended, ok)
	}
	p.Open(2, 3)
	if i, ok := p.Back(1); ok {
		t.Errorf("a sender that comes late has claimed piece %d of the next use", i)
	}
	p.Close()
	if p.Left() {
		t.Error("pieces are left after Close")
	}
	if ended, ok := p.Ended(2, 3); !ended || !ok {
		t.Errorf("a use in which the sender has claimed nothing: %t, %t", ended, ok)
	}
}

func TestPieceThatCannotBeCopied(t *testing.T) {
	var p Pieces
	p.Open(7, PiecesMax)
	if i, ok := p.Back(7); i != PiecesMax-1 || !ok {
		t.Fatalf("the last piece is %d, %t", i, ok)
	}
	p.Close()
	if ended, _ := p.Ended(7, PiecesMax); ended {
		t.Error("the use ends before the sender has copied its piece")
	}
	p.Copied(7, 1, false)
	if ended, ok := p.Ended(7, PiecesMax); !ended || ok {
		t.Errorf("the sender could not copy its piece: %t, %t", ended, ok)
	}
}
