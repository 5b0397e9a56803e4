package main

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// A sample sort has four steps:
//
//  1. Each rank sorts its lines, and takes some of them at regular distances as a
//     sample.
//  2. The samples of all ranks, sorted, show how the lines of all are spread. At
//     equal distances in them are the splitters, one less than there are ranks.
//  3. Each rank sends the lines before the first splitter to rank 0, those between
//     the first and the second to rank 1, and so on: one Alltoallv.
//  4. Each rank merges what it has received, a sorted run from everybody.
//
// Distances are measured in bytes, so that ranks get equal shares of the memory,
// not of the lines. Equal lines are ordered by their position in the input: so a
// splitter can be between them, and a million equal lines are distributed as evenly
// as any others. Only lines are never cut: a rank with a line longer than a share
// has more.
//
// A rank holds two copies of its share, one that it sends and one that it receives,
// and before that a span for each line.

// oversampling is the size of a rank's sample, in lines for each rank: no rank gets
// more than about 1 + 1/oversampling shares.
const oversampling = 8

// A span is where in a text a line stands; to is the place of its '\n'.
type span struct{ from, to int }

// A key is what lines are ordered by.
type key struct {
	line []byte
	at   int // where in the input the line stands
}

func compare(a, b key) int {
	return cmp.Or(bytes.Compare(a.line, b.line), cmp.Compare(a.at, b.at))
}

// part is the lines of one rank, sorted.
type part struct {
	text  []byte
	lines []span
	at    int // where in the input the text begins
}

func (p part) key(s span) key { return key{p.text[s.from:s.to], p.at + s.from} }

func sorted(text []byte, at int) part {
	p := part{text: text, at: at, lines: make([]span, 0, bytes.Count(text, []byte{'\n'}))}
	for from := 0; from < len(text); {
		to := from + bytes.IndexByte(text[from:], '\n')
		p.lines = append(p.lines, span{from, to})
		from = to + 1
	}
	slices.SortFunc(p.lines, func(a, b span) int { return compare(p.key(a), p.key(b)) })
	return p
}

// exchange returns the lines that belong to this rank as sorted runs, one from
// each rank.
func exchange(world *mpi.Comm, text []byte) ([][]byte, error) {
	at, err := mpi.ExscanOne(world, len(text), mpi.Sum)
	if err != nil {
		return nil, err
	}
	total, err := mpi.AllreduceOne(world, len(text), mpi.Sum)
	if err != nil {
		return nil, err
	}
	mine := sorted(text, at)
	splitters, err := split(world, mine, total)
	if err != nil {
		return nil, err
	}

	send, sendCounts := mine.deal(splitters, world.Size())
	recvCounts := make([]int, world.Size())
	if err := mpi.Alltoall(world, sendCounts, recvCounts); err != nil {
		return nil, err
	}
	recv := make([]byte, sum(recvCounts))
	if err := mpi.Alltoallv(world, send, sendCounts, nil, recv, recvCounts, nil); err != nil {
		return nil, err
	}
	runs := make([][]byte, world.Size())
	for r, n := range recvCounts {
		runs[r], recv = recv[:n], recv[n:]
	}
	return runs, nil
}

// split returns the splitters, the same on all ranks: fewer than one less than the
// ranks if there are no lines at all.
func split(world *mpi.Comm, mine part, total int) ([]key, error) {
	ranks := world.Size()
	step := max(1, total/(oversampling*ranks*ranks))
	text, at := mine.sample(step)
	allText, err := everybodys(world, text)
	if err != nil {
		return nil, err
	}
	allAt, err := everybodys(world, at)
	if err != nil || len(allAt) == 0 {
		return nil, err
	}

	samples := make([]key, len(allAt))
	for i := range samples {
		line, rest, _ := bytes.Cut(allText, []byte{'\n'})
		samples[i], allText = key{line, allAt[i]}, rest
	}
	slices.SortFunc(samples, compare)
	splitters := make([]key, ranks-1)
	for i := range splitters {
		splitters[i] = samples[(i+1)*len(samples)/ranks]
	}
	return splitters, nil
}

// sample returns a line for every step bytes of the sorted lines, the one in the
// middle of them, as text and places in the input.
func (p part) sample(step int) (text []byte, at []int) {
	passed, next := 0, step/2
	for _, s := range p.lines {
		passed += s.to + 1 - s.from
		for ; next < passed; next += step {
			text = append(text, p.text[s.from:s.to+1]...)
			at = append(at, p.at+s.from)
		}
	}
	return text, at
}

// deal returns the lines in order, and how many bytes of them are for each rank:
// for rank r those from splitter r-1 on and before splitter r.
func (p part) deal(splitters []key, ranks int) (text []byte, counts []int) {
	text, counts = make([]byte, 0, len(p.text)), make([]int, ranks)
	rank := 0
	for _, s := range p.lines {
		for rank < len(splitters) && compare(splitters[rank], p.key(s)) <= 0 {
			rank++
		}
		text = append(text, p.text[s.from:s.to+1]...)
		counts[rank] += s.to + 1 - s.from
	}
	return text, counts
}

// everybodys returns the slices of all ranks, one behind the other, on all ranks.
func everybodys[T mpi.Elem](world *mpi.Comm, mine []T) ([]T, error) {
	counts, err := mpi.AllgatherOne(world, len(mine))
	if err != nil {
		return nil, err
	}
	all := make([]T, sum(counts))
	return all, mpi.Allgatherv(world, mine, all, counts, nil)
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
