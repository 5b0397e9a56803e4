package main

import (
	"bytes"
	"container/heap"
	"iter"
)

// merged returns the lines of sorted texts in order.
func merged(texts [][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var q queues
		for _, text := range texts {
			if len(text) > 0 {
				q = append(q, begin(text))
			}
		}
		heap.Init(&q)
		for len(q) > 0 {
			if !yield(q[0].line) {
				return
			}
			if len(q[0].rest) > 0 {
				q[0] = begin(q[0].rest)
				heap.Fix(&q, 0)
			} else {
				heap.Pop(&q)
			}
		}
	}
}

// A queue is the lines of a sorted text that are left; the first is cut off.
type queue struct{ line, rest []byte }

func begin(text []byte) queue {
	line, rest, _ := bytes.Cut(text, []byte{'\n'})
	return queue{line, rest}
}

// queues is a heap: the queue with the least line stands first.
type queues []queue

func (q queues) Len() int           { return len(q) }
func (q queues) Less(i, j int) bool { return bytes.Compare(q[i].line, q[j].line) < 0 }
func (q queues) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queues) Push(x any)        { *q = append(*q, x.(queue)) }
func (q *queues) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
