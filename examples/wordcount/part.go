package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"
)

//go:embed text.txt
var text string

// ownText stands for the text that comes with the program; no file can be called so.
const ownText = "\x00"

// A source can be read anywhere, by all ranks at the same time.
type source interface {
	io.ReaderAt
	io.Closer
}

type inMemory struct{ *strings.Reader }

func (inMemory) Close() error { return nil }

// open also tells how long the source is.
func open(name string) (source, int64, error) {
	if name == ownText {
		return inMemory{strings.NewReader(text)}, int64(len(text)), nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	return f, info.Size(), err
}

// measure finds the sizes of all files.
func measure(files []string, sizes []int64) error {
	for i, name := range files {
		s, size, err := open(name)
		if err != nil {
			return fmt.Errorf("wordcount: %w", err)
		}
		sizes[i] = size
		s.Close()
	}
	return nil
}

// countPart counts the words of one rank's part of all files: of one long text,
// in which the files stand one behind the other, the rank's share of the bytes.
func countPart(files []string, sizes []int64, rank, ranks int, words map[string]int) error {
	total := int64(0)
	for _, size := range sizes {
		total += size
	}
	from := total * int64(rank) / int64(ranks)
	to := total * int64(rank+1) / int64(ranks)
	for i, name := range files {
		// from and to count from the begin of file i here.
		lo, hi := max(from, 0), min(to, sizes[i])
		if lo < hi {
			if err := countRange(name, lo, hi, sizes[i], words); err != nil {
				return fmt.Errorf("wordcount: %w", err)
			}
		}
		from -= sizes[i]
		to -= sizes[i]
	}
	return nil
}

// countRange counts the words between two places in a file. Each is moved to the
// next border of a word; the rank on its other side moves it to the same border,
// so that no word is cut, lost or counted twice.
func countRange(name string, lo, hi, size int64, words map[string]int) error {
	s, here, err := open(name)
	if err != nil {
		return err
	}
	defer s.Close()
	if here < size {
		return fmt.Errorf("%s has %d bytes here, but %d where rank 0 is", name, here, size)
	}
	lo, err = border(s, lo, size)
	if err != nil {
		return err
	}
	hi, err = border(s, hi, size)
	if err != nil {
		return err
	}
	return count(io.NewSectionReader(s, lo, hi-lo), words)
}

// border returns the first place from at on where no word goes on: the beginning,
// the end, or behind white space. That of ASCII will do, and is never a part of
// another character.
func border(s io.ReaderAt, at, size int64) (int64, error) {
	if at == 0 {
		return 0, nil
	}
	before := bufio.NewReader(io.NewSectionReader(s, at-1, size-at+1))
	for ; at < size; at++ {
		b, err := before.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\n\v\f\r", b) >= 0 {
			break
		}
	}
	return at, nil
}
