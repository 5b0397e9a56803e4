package sim

// Queue is a heap of what happens at some time, in which each node has four children.
//
// Rejected: container/heap, which calls methods through interfaces and takes twice as long.
type Queue[T interface{ Before(T) bool }] []T

// Push adds x.
func (q *Queue[T]) Push(x T) {
	h := append(*q, x)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !x.Before(h[up]) {
			break
		}
		h[i], i = h[up], up
	}
	h[i] = x
	*q = h
}

// Pop removes the element that is before all others.
func (q *Queue[T]) Pop() T {
	h := *q
	last := len(h) - 1
	first, x := h[0], h[last]
	clear(h[last:])
	h = h[:last]
	*q = h
	i := 0
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(h)); c++ {
			if h[c].Before(h[least]) {
				least = c
			}
		}
		if !h[least].Before(x) {
			break
		}
		h[i], i = h[least], least
	}
	if len(h) > 0 {
		h[i] = x
	}
	return first
}
