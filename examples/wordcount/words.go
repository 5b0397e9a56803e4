package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halo-mpi/halo/mpi"
)

// count counts words, in lower case. A word is a run of letters and digits of any
// script, with the accents that stand upon them and apostrophes between them.
func count(in io.Reader, words map[string]int) error {
	text := bufio.NewReader(in)
	var word []byte
	for {
		r, _, err := text.ReadRune()
		switch {
		case err == nil && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)):
			word = utf8.AppendRune(word, unicode.ToLower(r))
			continue
		case err == nil && (r == '\'' || r == '’'):
			word = append(word, '\'')
			continue
		}
		word = bytes.Trim(word, "'")
		if len(word) > 0 {
			words[string(word)]++
		}
		word = word[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A table has the words of all ranks, the most frequent first.
type table struct {
	words []string
	count map[string]int
}

// merge makes the table, on rank 0. Ranks send their words as one text and the
// counts in the same order as numbers.
func merge(world *mpi.Comm, words map[string]int) (table, error) {
	var text []byte
	var counts []int
	for word, n := range words {
		text = append(append(text, word...), '\n')
		counts = append(counts, n)
	}
	allText, err := collect(world, text)
	if err != nil {
		return table{}, err
	}
	allCounts, err := collect(world, counts)
	if err != nil || world.Rank() != 0 {
		return table{}, err
	}

	t := table{count: map[string]int{}}
	for i, word := range strings.Fields(string(allText)) {
		if t.count[word] == 0 {
			t.words = append(t.words, word)
		}
		t.count[word] += allCounts[i]
	}
	slices.SortFunc(t.words, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.count[b], t.count[a]), cmp.Compare(a, b))
	})
	return t, nil
}

// collect concatenates the slices of all ranks at rank 0. Rank 0 does not know their
// lengths, which are gathered first.
func collect[T mpi.Elem](world *mpi.Comm, mine []T) ([]T, error) {
	lengths := make([]int, world.Size())
	if err := mpi.Gather(world, []int{len(mine)}, lengths, 0); err != nil {
		return nil, err
	}
	total := 0 // stays 0 on the other ranks
	for _, n := range lengths {
		total += n
	}
	all := make([]T, total)
	err := mpi.Gatherv(world, mine, all, lengths, nil, 0)
	return all, err
}

// report prints the first words of the table.
func report(out io.Writer, t table, top, ranks int) error {
	total := 0
	for _, n := range t.count {
		total += n
	}
	text := bufio.NewWriter(out)
	for _, word := range t.words[:min(top, len(t.words))] {
		fmt.Fprintf(text, "%8d  %s\n", t.count[word], word)
	}
	fmt.Fprintf(text, "%d words, %d different ones, counted on %d ranks\n", total, len(t.words), ranks)
	return text.Flush()
}
