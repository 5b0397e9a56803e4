package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/halo-mpi/halo/mpi"
)

// A summary tells what lines there are, whatever their order: summaries of other
// lines differ, but for one pair in 2^64.
type summary struct {
	lines, bytes uint64
	hash         uint64 // the sum of the hashes of all lines
}

func (s *summary) add(line []byte) {
	h := fnv.New64a()
	h.Write(line)
	s.lines++
	s.bytes += uint64(len(line)) + 1
	s.hash += h.Sum64()
}

func summarize(text []byte) summary {
	var s summary
	for line := range bytes.Lines(text) {
		s.add(line[:len(line)-1])
	}
	return s
}

// A result is what a rank has in the end.
type result struct {
	summary
	first, last []byte
	disordered  uint64 // lines less than the one before
}

func (r *result) add(line []byte) {
	if r.lines == 0 {
		r.first = line
	} else if bytes.Compare(r.last, line) > 0 {
		r.disordered++
	}
	r.last = line
	r.summary.add(line)
}

// verify finds out whether the lines of all ranks are those that there were before,
// and in order. It returns the summary of all and the bytes of the rank that has
// most. All ranks get the same result.
func verify(world *mpi.Comm, before summary, after result) (all summary, fullest uint64, err error) {
	sums := []uint64{
		before.lines, before.bytes, before.hash,
		after.lines, after.bytes, after.hash,
		after.disordered,
	}
	if err := mpi.Allreduce(world, sums, sums, mpi.Sum); err != nil {
		return all, 0, err
	}
	before, all = summary{sums[0], sums[1], sums[2]}, summary{sums[3], sums[4], sums[5]}
	fullest, err = mpi.AllreduceOne(world, after.bytes, mpi.Max)
	if err != nil {
		return all, 0, err
	}

	// The ends of all ranks, one behind the other, must be in order as well. Ranks
	// without lines have none.
	var ends []byte
	if after.lines > 0 {
		ends = fmt.Appendf(nil, "%s\n%s\n", after.first, after.last)
	}
	ends, err = everybodys(world, ends)
	if err != nil {
		return all, 0, err
	}
	var between result
	for line := range bytes.Lines(ends) {
		between.add(line[:len(line)-1])
	}

	switch {
	case all != before:
		err = fmt.Errorf("samplesort: %d lines with checksum %016x have become %d with %016x", before.lines, before.hash, all.lines, all.hash)
	case sums[6] > 0:
		err = fmt.Errorf("samplesort: %d lines are less than the line before", sums[6])
	case between.disordered > 0:
		err = errors.New("samplesort: the parts of the ranks are not in order")
	}
	return all, fullest, err
}
