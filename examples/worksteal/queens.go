package main

import "math/bits"

// A board is the beginning of a placing of queens, one a row from the first one on: a tree
// whose leaves nobody knows before. It fits into a word: the row, and for the next row
// which columns are attacked along columns, and along both diagonals.
type board struct {
	row                  int
	columns, left, right uint64
}

// queensMax is the largest board for which masks fit.
const queensMax = 16

func (b board) task() uint64 {
	return uint64(b.row) | b.columns<<8 | b.left<<24 | b.right<<40
}

func boardOf(task uint64) board {
	const mask = 1<<queensMax - 1
	return board{int(task & 0xff), task >> 8 & mask, task >> 24 & mask, task >> 40 & mask}
}

// each calls f with the boards that have one more queen, of n.
func (b board) each(n int, f func(board)) {
	all := uint64(1)<<n - 1
	for free := all &^ (b.columns | b.left | b.right); free != 0; free &= free - 1 {
		q := uint64(1) << bits.TrailingZeros64(free)
		f(board{b.row + 1, b.columns | q, (b.left | q) << 1 & all, (b.right | q) >> 1})
	}
}

// tally is how many placings were found, and how many boards were looked at.
type tally struct{ solutions, boards int }

// search goes through the tree below b. Boards in rows above deep it hands to later.
func (b board) search(n, deep int, later func(board), t *tally) {
	t.boards++
	if b.row == n {
		t.solutions++
		return
	}
	b.each(n, func(next board) {
		if next.row < deep {
			later(next)
		} else {
			next.search(n, deep, later, t)
		}
	})
}
