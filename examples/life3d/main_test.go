package main

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// serial plays the game without blocks, and returns what the program prints of it.
func serial(n, steps int, seed uint64) string {
	cells := make([]uint8, n*n*n)
	for i := range cells {
		if random(seed<<40+uint64(i))%4 == 0 {
			cells[i] = 1
		}
	}
	at := func(z, y, x int) uint8 {
		wrap := func(k int) int { return (k + n) % n }
		return cells[(wrap(z)*n+wrap(y))*n+wrap(x)]
	}
	for range steps {
		next := make([]uint8, len(cells))
		for i := range next {
			z, y, x := i/n/n, i/n%n, i%n
			around := -at(z, y, x)
			for k := range 27 {
				around += at(z+k/9-1, y+k/3%3-1, x+k%3-1)
			}
			if around == 5 || around == 4 && cells[i] == 1 {
				next[i] = 1
			}
		}
		cells = next
	}
	var alive, sum uint64
	for i, c := range cells {
		if c == 1 {
			alive, sum = alive+1, sum+random(uint64(i))
		}
	}
	return fmt.Sprintf("%d alive, checksum %016x", alive, sum)
}

// The blocks of any number of ranks, also some of one cell in a dimension, hold what a cube without
// blocks does. Some ranks are their own neighbours, and some have the same one on both sides.
func TestBlocksEqualSerial(t *testing.T) {
	result := regexp.MustCompile(`\d+ alive, checksum [0-9a-f]{16}`)
	for _, x := range []struct{ cells, steps int }{{3, 2}, {8, 0}, {9, 12}} {
		want := serial(x.cells, x.steps, 7)
		for _, n := range []int{1, 2, 3, 6, 8} {
			for _, fabric := range mpitest.Fabrics() {
				var out bytes.Buffer // written by rank 0 only
				err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error { return run(world, x.cells, x.steps, 7, &out) })
				if got := result.FindString(out.String()); err != nil || got != want {
					t.Errorf("%d cells, %d steps, %d ranks over %s: %q, %v; want %q", x.cells, x.steps, n, fabric, out.String(), err, want)
				}
			}
		}
	}
}

// Something is alive for a while: a game in which everything dies would test nothing.
func TestSomethingIsAlive(t *testing.T) {
	if s := serial(9, 12, 7); s == serial(9, 11, 7) || s[:2] == "0 " {
		t.Error(s)
	}
}
