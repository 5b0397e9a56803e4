//go:build unix

package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// checker reads the output of ranks with the step lines:COUNT,LONGEST, and checks that each line is
// complete and that the lines of each rank are in order.
type checker struct {
	t       *testing.T
	ranks   int
	longest int
	next    []int // per rank, the number of the next line
	line    []byte
	bad     int
	bytes   int
}

const pattern = "abcdefghijklmnopqrstuvwxyz0123456789.,-;:_!?+*#()[]"

func (c *checker) Write(b []byte) (int, error) {
	c.bytes += len(b)
	for line := range bytes.Lines(b) {
		c.line = append(c.line, line...)
		if c.line[len(c.line)-1] == '\n' {
			c.check(c.line[:len(c.line)-1])
			c.line = c.line[:0]
		}
	}
	return len(b), nil
}

func (c *checker) check(line []byte) {
	var head [3]int // rank, number and length of the line
	text, ok := line, true
	for k := range head {
		word, rest, found := bytes.Cut(text, []byte{' '})
		n, err := strconv.Atoi(string(word))
		head[k], text, ok = n, rest, ok && found && err == nil
	}
	rank, i, length := head[0], head[1], head[2]
	if ok && rank >= 0 && rank < c.ranks && i == c.next[rank] && length == (i*7919)%(c.longest+1) {
		c.next[rank]++
		if len(text) == length {
			for len(text) > 0 && bytes.HasPrefix([]byte(pattern), text[:min(50, len(text))]) {
				text = text[min(50, len(text)):]
			}
			if len(text) == 0 {
				return
			}
		}
	}
	c.bad++
	if c.bad < 5 {
		c.t.Errorf("line of %d bytes %.80q where rank %d is at line %v", len(line), line, rank, c.next)
	}
}

func (c *checker) done(count int) {
	c.t.Helper()
	if len(c.line) > 0 {
		c.t.Errorf("output ends with an unfinished line of %d bytes", len(c.line))
	}
	for rank, n := range c.next {
		if n != count {
			c.t.Errorf("%d lines of rank %d arrived, want %d", n, rank, count)
		}
	}
}

func checkLines(t *testing.T, ranks, count, longest int, reader func(io.Writer) io.Writer) *checker {
	t.Helper()
	c := &checker{t: t, ranks: ranks, longest: longest, next: make([]int, ranks)}
	r := newRun(t, "-n", fmt.Sprint(ranks), "rank", fmt.Sprintf("lines:%d,%d", count, longest))
	r.cmd.Stdout = reader(c)
	r.start().wait(0).quiet()
	c.done(count)
	return c
}

func same(w io.Writer) io.Writer { return w }

func TestLargeOutputArrivesWhole(t *testing.T) {
	testrun.PlainOnly(t, "it makes too little output")
	count := 50000
	if testing.Short() {
		count = 5000
	}
	c := checkLines(t, 4, count, 2000, same)
	if !testing.Short() && c.bytes < 200e6 {
		t.Errorf("only %d bytes", c.bytes)
	}
}

// Promise F5: millions of lines from several ranks arrive complete, and those of each rank in order.
func TestF5_MillionsOfLines(t *testing.T) {
	testrun.PlainOnly(t, "it makes too little output")
	count := 500000
	if testing.Short() {
		count = 30000
	}
	checkLines(t, 4, count, 3, same)
}

// Promise F5: the output of a rank that floods it without a newline arrives complete, and the
// launcher uses little memory.
func TestF5_FloodWithoutNewline(t *testing.T) {
	testrun.PlainOnly(t, "it makes too little output")
	blocks := 512 // of a MiB: more than twice what the launcher may hold
	if testing.Short() {
		blocks = 64
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	r := newRun(t, "-n", "2", "rank", fmt.Sprint("0@flood:", blocks))
	r.cmd.Stdout = w
	r.start()
	w.Close()
	got, want := make([]byte, 1<<20), []byte(strings.Repeat("x", 1<<20))
	for i := range blocks {
		if _, err := io.ReadFull(out, got); err != nil {
			t.Fatalf("block %d: %v; stderr %s", i, err, r.stderr.String())
		}
		copy(want, fmt.Sprintf("%08d", i))
		if !bytes.Equal(got, want) {
			t.Fatalf("block %d begins with %.30q", i, got)
		}
		if i%32 == 0 {
			if kb := statusOf(t, r.cmd.Process.Pid, "VmRSS"); kb > 200<<10 {
				t.Fatalf("the launcher holds %d KiB", kb)
			}
		}
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %.30q, %v", rest, err)
	}
	r.wait(0).quiet()
}

func TestLinesLongerThanTheBufferStayWhole(t *testing.T) {
	checkLines(t, 3, 9, 5*lineBuffer, same)
}

// slow is a reader of output that pauses at intervals.
type slow struct {
	w     io.Writer
	count int
}

func (s *slow) Write(b []byte) (int, error) {
	s.count++
	if s.count%20 == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.w.Write(b)
}

func TestSlowReaderLosesNothing(t *testing.T) {
	checkLines(t, 2, 2000, 5000, func(w io.Writer) io.Writer { return &slow{w: w} })
}

// If nobody reads the output, the ranks block, and the launcher uses little memory.
func TestUnreadOutputHoldsTheRanksUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run := newRun(t, "-n", "2", "rank", "lines:30000,2000")
	run.cmd.Stdout = w
	run.start()
	w.Close()
	pause := make([]byte, 1)
	if _, err := io.ReadFull(r, pause); err != nil {
		t.Fatal(err)
	}
	limit := "VmRSS"
	for range 20 { // a launcher that did not block would read everything meanwhile
		time.Sleep(10 * time.Millisecond)
		if kb := statusOf(t, run.cmd.Process.Pid, limit); kb > 200<<10 {
			t.Fatalf("the launcher holds %d KiB of output", kb)
		}
	}
	c := &checker{t: t, ranks: 2, longest: 2000, next: make([]int, 2)}
	c.Write(pause)
	if _, err := io.Copy(c, r); err != nil {
		t.Error(err)
	}
	run.wait(0)
	c.done(30000)
}

// statusOf reads a number from /proc/PID/status; 0 if there is none.
func statusOf(t *testing.T, pid int, name string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var v int
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			fmt.Sscan(rest, &v)
		}
	}
	return v
}

func TestLastPartialLineIsKept(t *testing.T) {
	r := halo(t, 0, "-n", "1", "rank", "print:a", "partial:b").quiet()
	if got := r.stdout.String(); got != "a\nb" {
		t.Errorf("stdout %q", got)
	}
	r = halo(t, 0, "-n", "2", "rank", "partial:b").quiet()
	if got := r.stdout.String(); got != "b\nb" {
		t.Errorf("of two ranks: stdout %q", got)
	}
}

func TestTagOutput(t *testing.T) {
	r := halo(t, 0, "-n", "2", "-tag-output", "rank", "print:x\ny", "stderr:z").printed("[0] x", "[0] y", "[1] x", "[1] y")
	r.said("[0] z").said("[1] z")
	long := strings.Repeat("x", 3*lineBuffer) // too long for an argument
	r = newRun(t, "-n", "1", "-tag-output", "cat")
	r.cmd.Stdin = strings.NewReader(long + "\nnext\n")
	r.start().wait(0).printed("[0] "+long, "[0] next")
}

func TestStdinGoesToRankZero(t *testing.T) {
	r := newRun(t, "-n", "3", "-tag-output", "rank", "cat")
	r.cmd.Stdin = strings.NewReader("one\ntwo\n")
	r.start().wait(0).quiet().printed("[0] one", "[0] two")
}

func TestStdoutAndStderrToOneFileDoNotMix(t *testing.T) {
	var both bytes.Buffer
	r := newRun(t, "-n", "4", "sh", "-c", `for i in 1 2 3 4 5 6 7 8 9 10; do echo out $i; echo err $i >&2; done`)
	r.cmd.Stdout, r.cmd.Stderr = &both, &both
	r.start().wait(0)
	lines := map[string]int{}
	for line := range strings.Lines(both.String()) {
		lines[line]++
	}
	if len(lines) != 20 {
		t.Errorf("lines %v", lines)
	}
	for line, n := range lines {
		if n != 4 {
			t.Errorf("line %q is there %d times", line, n)
		}
	}
}

// Promise F5: a job whose stderr cannot be written runs to its end and keeps its stdout. If the job
// does not fail otherwise, its status shows that output was lost.
func TestF5_FullDiskForStderrKeepsTheResult(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here:", err)
	}
	defer full.Close()
	for _, c := range []struct {
		status int
		last   string
	}{{125, "exit:0"}, {7, "exit:7"}, {137, "kill:9"}} {
		r := newRun(t, "-v", "-n", "3", "rank", "stderr:lost", "print:kept", "1@"+c.last)
		r.cmd.Stderr = full
		r.start().wait(c.status)
		if c.status == 125 {
			r.printed("kept", "kept", "kept")
		}
	}
	for _, both := range []bool{false, true} { // one sink, or two
		r := newRun(t, "-n", "2", "rank", "stderr:lost", "print:lost", "stderr:lost", "exit:0")
		r.cmd.Stdout, r.cmd.Stderr = full, full
		if both {
			again, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			r.cmd.Stderr = again
		}
		r.start().wait(125)
	}
}

// The last lines arrive from a process, such as tee, that outlives the shell that started it.
func TestOutputOfWhatOutlivesARankIsKept(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	r := halo(t, 0, "-n", "1", "bash", "-c", `exec > >(sleep 0.1; cat); echo late`).quiet()
	if got := r.stdout.String(); got != "late\n" {
		t.Errorf("stdout %q", got)
	}
}
