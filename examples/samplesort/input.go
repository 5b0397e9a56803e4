package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

// input returns this rank's part of the lines: those of lower ranks stand before
// it. Every line ends with '\n'.
func input(world *mpi.Comm, opt options) ([]byte, error) {
	rank, ranks := world.Rank(), world.Size()
	if opt.in == "" {
		return makeLines(opt.seed, opt.lines*rank/ranks, opt.lines*(rank+1)/ranks), nil
	}

	// What rank 0 finds now is what is sorted, even if the file is growing.
	var size int64
	var err error
	if rank == 0 {
		size, err = measure(opt.in)
	}
	if err := agree(world, err); err != nil {
		return nil, err
	}
	size, err = mpi.BcastOne(world, size, 0)
	if err != nil {
		return nil, err
	}
	text, err := readPart(opt.in, size, int64(rank), int64(ranks))
	return text, agree(world, err)
}

func measure(name string) (int64, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return 0, fmt.Errorf("samplesort: %w", err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("samplesort: %s is not a regular file", name)
	}
	return info.Size(), nil
}

// readPart reads one of n equal parts of a file. Both ends are moved to the next
// begin of a line; the rank on the other side moves them to the same.
func readPart(name string, size, i, n int64) ([]byte, error) {
	here, err := measure(name)
	if err != nil {
		return nil, err
	}
	if here < size {
		return nil, fmt.Errorf("samplesort: %s has %d bytes here, but %d where rank 0 is", name, here, size)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("samplesort: %w", err)
	}
	defer f.Close()
	text, err := lines(f, size*i/n, size*(i+1)/n, size)
	if err != nil {
		return nil, fmt.Errorf("samplesort: reading %s: %w", name, err)
	}
	return text, nil
}

// lines reads the lines that begin between two places.
func lines(f io.ReaderAt, from, to, size int64) ([]byte, error) {
	from, err := lineBegin(f, from, size)
	if err != nil {
		return nil, err
	}
	to, err = lineBegin(f, to, size)
	if err != nil {
		return nil, err
	}
	text := make([]byte, to-from, to-from+1)
	if _, err := io.ReadFull(io.NewSectionReader(f, from, to-from), text); err != nil {
		return nil, err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' { // the end of the file
		text = append(text, '\n')
	}
	return text, nil
}

// lineBegin returns the first place from at on where a line begins, or the end.
func lineBegin(f io.ReaderAt, at, size int64) (int64, error) {
	if at == 0 {
		return 0, nil
	}
	before := bufio.NewReader(io.NewSectionReader(f, at-1, size-at+1))
	for ; at < size; at++ {
		b, err := before.ReadByte()
		if err != nil {
			return 0, err
		}
		if b == '\n' {
			break
		}
	}
	return at, nil
}

// makeLines makes lines from to to-1. What a line is depends on its number and
// the seed only, not on the rank. Some are empty, and short ones are frequent.
func makeLines(seed uint64, from, to int) []byte {
	var text []byte
	var source rand.PCG
	random := rand.New(&source)
	for i := from; i < to; i++ {
		source.Seed(seed, uint64(i))
		for range random.IntN(40) {
			text = append(text, 'a'+byte(min(random.IntN(26), random.IntN(26))))
		}
		text = append(text, '\n')
	}
	return text
}
