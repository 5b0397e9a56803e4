package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// serial counts in another way than the program: all in memory, cut by a library.
func serial(texts ...string) map[string]int {
	words := map[string]int{}
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && r != '\'' && r != '’'
		}) {
			word = strings.Trim(strings.ReplaceAll(word, "’", "'"), "'")
			if word != "" {
				words[word]++
			}
		}
	}
	return words
}

// printout is what the program is to print for words.
func printout(words map[string]int, top, ranks int) string {
	order := slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(words[b]-words[a], strings.Compare(a, b))
	})
	var out strings.Builder
	total := 0
	for i, word := range order {
		total += words[word]
		if i < top {
			fmt.Fprintf(&out, "%8d  %s\n", words[word], word)
		}
	}
	fmt.Fprintf(&out, "%d words, %d different ones, counted on %d ranks\n", total, len(words), ranks)
	return out.String()
}

// texts have what is hard to cut: characters of up to four bytes, words longer
// than a rank's part, no white space or nothing else, bytes that are no text.
func texts() []string {
	random := rand.New(rand.NewPCG(3, 5))
	alphabet := []string{"a", "B", "é", "é", "Ω", "語", "𝛼", "٣", "7", "'", "’", "-", ".", " ", " ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\xff", "\xe8\xaa"}
	var soup strings.Builder
	for range 3000 {
		soup.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return []string{
		"", " ", "\n\n", "one", "one ", " one", "'tis the dogs' bone, isn’t it? rock'n'roll '' ",
		strings.Repeat("long", 50) + " short " + strings.Repeat("語", 70),
		soup.String(), text,
	}
}

// TestEveryCutCountsEachWordOnce is without communication: any number of parts,
// more than there are bytes included.
func TestEveryCutCountsEachWordOnce(t *testing.T) {
	files, sizes := save(t, t.TempDir(), texts())
	for from := range files {
		want := serial(texts()[from:]...)
		for _, ranks := range []int{1, 2, 3, 7, 64, 1000, 20000} {
			if from > 0 && ranks > 64 {
				continue
			}
			got := map[string]int{}
			for rank := range ranks {
				if err := countPart(files[from:], sizes[from:], rank, ranks, got); err != nil {
					t.Fatal(err)
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("files from %d on in %d parts: %v, want %v", from, ranks, got, want)
			}
		}
	}
}

func save(t *testing.T, dir string, texts []string) (files []string, sizes []int64) {
	t.Helper()
	for i, text := range texts {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d.txt", i)))
		sizes = append(sizes, int64(len(text)))
		if err := os.WriteFile(files[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files, sizes
}

func TestRanksPrintWhatOneLoopCounts(t *testing.T) {
	files, _ := save(t, t.TempDir(), texts())
	for _, c := range []struct {
		args  []string
		texts []string
		top   int
	}{
		{nil, []string{text}, 10},
		{[]string{"-top", "3"}, []string{text}, 3},
		{[]string{"-top", "0", files[8]}, texts()[8:9], 0},
		{append([]string{"-top", "100000"}, files...), texts(), 100000},
		{[]string{files[0], files[1]}, texts()[:2], 10}, // not one word
		{[]string{files[3], files[3]}, []string{"one", "one"}, 10},
	} {
		for n := 1; n <= 5; n++ {
			want := printout(serial(c.texts...), c.top, n)
			for _, fabric := range mpitest.Fabrics() {
				var out bytes.Buffer // written by rank 0 only
				if err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error { return run(world, c.args, &out) }); err != nil {
					t.Errorf("%q on %d ranks over %s: %v", c.args, n, fabric, err)
				} else if out.String() != want {
					t.Errorf("%q on %d ranks over %s printed\n%swant\n%s", c.args, n, fabric, out.String(), want)
				}
			}
		}
	}
}

// TestEveryRankLearnsOfAnError, whichever rank meets it: the rank itself can say
// what it is, and nobody waits for ever.
func TestEveryRankLearnsOfAnError(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.txt")
	short := filepath.Join(dir, "short.txt")
	if err := os.WriteFile(good, bytes.Repeat([]byte("word "), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(short, []byte("word "), 0o644); err != nil {
		t.Fatal(err)
	}
	const ranks = 3
	all := func(args ...string) [ranks][]string { return [ranks][]string{args, args, args} }
	for _, c := range []struct {
		want string
		who  int
		args [ranks][]string // as on hosts that do not share their files
	}{
		{"no such file", 0, all(good, filepath.Join(dir, "none"))},
		{"no such file", 0, all("")},
		{"not a regular file", 0, all(dir)},
		{"-top is -1", 0, all("-top", "-1", good)},
		{"invalid value", 0, all("-top", "x")},
		{"not defined: -bottom", 0, all("-bottom", "3")},
		{"no such file", 2, [ranks][]string{{good}, {good}, {filepath.Join(dir, "none")}}},
		{"no such file", 1, [ranks][]string{{good}, {filepath.Join(dir, "none")}, {dir}}},
		{"short.txt has 5 bytes here, but 5000 where rank 0 is", 1, [ranks][]string{{good}, {short}, {good}}},
	} {
		for _, fabric := range mpitest.Fabrics() {
			var errs [ranks]error
			err := mpitest.RunOver(fabric, ranks, func(world *mpi.Comm) error {
				me := world.Rank()
				errs[me] = run(world, c.args[me], nil)
				return nil
			})
			if err != nil {
				t.Errorf("%q over %s: %v", c.args, fabric, err)
			}
			for rank, err := range errs {
				if rank == c.who && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "wordcount: ")) {
					t.Errorf("%q over %s: rank %d: %v, want %q in it", c.args, fabric, rank, err, c.want)
				}
				if rank != c.who && !errors.Is(err, errElsewhere) {
					t.Errorf("%q over %s: rank %d: %v, want %v", c.args, fabric, rank, err, errElsewhere)
				}
			}
		}
	}
}

func TestHelpIsPrintedOnce(t *testing.T) {
	var out bytes.Buffer
	if err := mpi.Run(3, func(world *mpi.Comm) error { return run(world, []string{"-help"}, &out) }); err != nil {
		t.Fatal(err)
	}
	if out.String() != usage {
		t.Errorf("printed %q", out.String())
	}
}
