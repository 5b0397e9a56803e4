package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// serial sorts in memory. Its last line has a '\n', as in the program.
func serial(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// texts are inputs by what is hard about them.
func texts() map[string]string {
	random := rand.New(rand.NewPCG(7, 11))
	var soup, skewed, growing strings.Builder
	for i := range 2000 {
		for range random.IntN(9) {
			soup.WriteByte("\x00\t\r !abz\x7f\xff"[random.IntN(10)])
		}
		soup.WriteByte('\n')
		// Nine of ten lines are the same, and all others greater.
		skewed.WriteString([]string{"same\n", fmt.Sprintf("t%d\n", i)}[(random.IntN(10)+1)/10])
		fmt.Fprintf(&growing, "%06d\n", i)
	}
	return map[string]string{
		"nothing":           "",
		"one empty line":    "\n",
		"one line":          "only",
		"less than ranks":   "b\na\n",
		"no newline at end": "c\nb\na",
		"prefixes":          "ab\na\na\tb\n\na\x00\n",
		"empty lines":       strings.Repeat("\n", 500),
		"equal lines":       strings.Repeat("all the same\n", 700),
		"one long line":     "b\n" + strings.Repeat("long", 5000) + "\na\n\nm\nm\nz",
		"any bytes":         soup.String(),
		"skewed":            skewed.String(),
		"sorted before":     growing.String(),
	}
}

func TestAnyNumberOfRanksSortsAsOne(t *testing.T) {
	dir := t.TempDir()
	for name, text := range texts() {
		want := serial(text)
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		for n := 1; n <= 5; n++ {
			for _, fabric := range mpitest.Fabrics() {
				if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if n == 5 {
					out = in // in place
				}
				var said bytes.Buffer // written by rank 0 only
				err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error {
					return run(world, []string{"-o", out, in}, &said)
				})
				if err != nil {
					t.Errorf("%s on %d ranks over %s: %v", name, n, fabric, err)
					continue
				}
				got, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != want {
					t.Errorf("%s on %d ranks over %s: %d bytes, want %d: %.80q", name, n, fabric, len(got), len(want), got)
				}
				line := fmt.Sprintf("%d lines of %d bytes sorted on %d ranks", strings.Count(want, "\n"), len(want), n)
				if !strings.Contains(said.String(), line) {
					t.Errorf("%s on %d ranks over %s printed %q, want %q in it", name, n, fabric, said.String(), line)
				}
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
			t.Errorf("%s left %q", name, left)
		}
	}
}

// TestNoRankHasMuchMoreThanItsShare holds for all inputs, those of equal lines too:
// a share, what a sample does not see, and at each of the p-1 cuts in it a line.
func TestNoRankHasMuchMoreThanItsShare(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 17))
	var shuffled strings.Builder
	for range 20000 {
		fmt.Fprintf(&shuffled, "%0*d\n", random.IntN(30), random.IntN(1000))
	}
	inputs := texts()
	inputs["shuffled"] = shuffled.String()
	for name, text := range inputs {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		longest := 0
		for line := range strings.Lines(text) {
			longest = max(longest, len(line))
		}
		for _, n := range []int{2, 3, 4, 8} {
			share := len(text) / n
			bound := share + share/oversampling + n*(longest+1) + 1
			err := mpi.Run(n, func(world *mpi.Comm) error {
				rank, size := world.Rank(), len(text)
				part, err := lines(strings.NewReader(text), int64(size*rank/n), int64(size*(rank+1)/n), int64(size))
				if err != nil {
					return err
				}
				runs, err := exchange(world, part)
				if err != nil {
					return err
				}
				if got := len(bytes.Join(runs, nil)); got > bound {
					t.Errorf("%s: rank %d of %d has %d bytes, want at most %d", name, world.Rank(), n, got, bound)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", name, n, err)
			}
		}
	}
}

// TestOwnLinesAreTheSameOnAnyNumberOfRanks and others for another seed.
func TestOwnLinesAreTheSameOnAnyNumberOfRanks(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	want := serial(string(makeLines(5, 0, 999)))
	if strings.Count(want, "\n") != 999 || want == serial(string(makeLines(6, 0, 999))) {
		t.Fatalf("%d lines: %.80q", strings.Count(want, "\n"), want)
	}
	for n := 1; n <= 4; n++ {
		args := []string{"-seed", "5", "-lines", "999", "-o", out}
		if err := mpi.Run(n, func(world *mpi.Comm) error { return run(world, args, io.Discard) }); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(out); err != nil || string(got) != want {
			t.Errorf("%d ranks: %v, %.80q, want %.80q", n, err, got, want)
		}
	}
}

// TestEveryRankLearnsOfAnError, whichever rank meets it, and the file that was
// there before stays as it was.
func TestEveryRankLearnsOfAnError(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"in": "b\na\nd\nc\n", "short": "b\n", "out": "old"} {
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const ranks = 3
	all := func(args ...string) [ranks][]string { return [ranks][]string{args, args, args} }
	in, out := path("in"), path("out")
	for _, c := range []struct {
		want string
		who  int
		args [ranks][]string // as on hosts that do not share their files
	}{
		{"no such file", 0, all("-o", out, path("none"))},
		{"not a regular file", 0, all("-o", out, dir)},
		{"not a regular file", 0, all("-o", dir, in)},
		{"no such file", 0, all("-o", path("none/out"), in)},
		{"-lines is -1", 0, all("-lines", "-1")},
		{"invalid value", 0, all("-seed", "-1")},
		{"one file at a time, not 2", 0, all(in, in)},
		{"no such file", 2, [ranks][]string{{"-o", out, in}, {"-o", out, in}, {"-o", out, path("none")}}},
		{"short has 2 bytes here, but 8 where rank 0 is", 2, [ranks][]string{{"-o", out, in}, {"-o", out, in}, {"-o", out, path("short")}}},
		{"no such file", 1, [ranks][]string{{"-o", out, in}, {"-o", path("none/out"), in}, {"-o", out, in}}},
	} {
		for _, fabric := range mpitest.Fabrics() {
			var errs [ranks]error
			err := mpitest.RunOver(fabric, ranks, func(world *mpi.Comm) error {
				errs[world.Rank()] = run(world, c.args[world.Rank()], io.Discard)
				return nil
			})
			if err != nil {
				t.Errorf("%q over %s: %v", c.args, fabric, err)
			}
			for rank, err := range errs {
				if rank == c.who && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "samplesort: ")) {
					t.Errorf("%q over %s: rank %d: %v, want %q in it", c.args, fabric, rank, err, c.want)
				}
				if rank != c.who && !errors.Is(err, errElsewhere) {
					t.Errorf("%q over %s: rank %d: %v, want %v", c.args, fabric, rank, err, errElsewhere)
				}
			}
			if old, err := os.ReadFile(out); err != nil || string(old) != "old" {
				t.Errorf("%q over %s: the file that was there is %q, %v", c.args, fabric, old, err)
			}
			if left, _ := filepath.Glob(path("*.part")); len(left) > 0 {
				t.Errorf("%q over %s left %q", c.args, fabric, left)
			}
		}
	}
}

// TestVerifySeesWhatIsWrong with results as a faulty sort would leave them on
// three ranks.
func TestVerifySeesWhatIsWrong(t *testing.T) {
	const before = "b\na\nc\na\tb\nb\n"
	for _, c := range []struct {
		want  string
		after [3]string
	}{
		{"", [3]string{"a\na\tb\n", "b\nb\n", "c\n"}},
		{"", [3]string{"", "a\na\tb\nb\nb\nc\n", ""}},
		{"", [3]string{"a\na\tb\nb\n", "", "b\nc\n"}},
		{"5 lines with checksum", [3]string{"a\na\tb\n", "b\n", "c\n"}},
		{"5 lines with checksum", [3]string{"a\na\tb\n", "b\nb\nb\n", "c\n"}},
		{"5 lines with checksum", [3]string{"a\na\tb\n", "b\nc\n", "c\n"}},
		{"1 lines are less", [3]string{"a\na\tb\n", "b\nc\nb\n", ""}},
		{"2 lines are less", [3]string{"a\tb\na\n", "c\nb\n", "b\n"}},
		{"not in order", [3]string{"a\na\tb\n", "c\n", "b\nb\n"}},
		{"not in order", [3]string{"b\nb\n", "", "a\na\tb\nc\n"}},
	} {
		err := mpi.Run(3, func(world *mpi.Comm) error {
			var start summary
			if world.Rank() == 1 {
				start = summarize([]byte(before))
			}
			var after result
			for line := range strings.Lines(c.after[world.Rank()]) {
				after.add([]byte(strings.TrimSuffix(line, "\n")))
			}
			_, _, err := verify(world, start, after)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: rank %d: %v, want %q", c.after, world.Rank(), err, c.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
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
