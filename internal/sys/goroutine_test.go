package sys

import (
	"runtime"
	"testing"
)

// Goroutine returns different numbers for goroutines that exist at the same time. The number of a
// goroutine does not change when its stack moves or when another thread runs it.
func TestGoroutine(t *testing.T) {
	me := Goroutine()
	if me == 0 {
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			t.Fatal("it cannot be told here")
		}
		t.Skip("it cannot be told here")
	}
	const n = 100
	ids, done := make(chan uintptr), make(chan struct{})
	for range n {
		go func() {
			id := Goroutine()
			if deep(1000) != id {
				id = me
			}
			ids <- id
			<-done
		}()
	}
	seen := map[uintptr]bool{me: true}
	for range n {
		id := <-ids
		if seen[id] {
			t.Errorf("two goroutines are %#x, or one has changed", id)
		}
		seen[id] = true
	}
	close(done)
	if Goroutine() != me {
		t.Error("it has changed")
	}
}

// deep needs a larger stack than the initial one of a goroutine.
func deep(n int) uintptr {
	var room [64]byte
	if n == 0 {
		runtime.Gosched()
		return Goroutine()
	}
	room[n%64] = 1
	return deep(n-1) + uintptr(room[(n+1)%64])
}
