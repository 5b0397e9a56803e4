package examples

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// The tests in the folders of the programs cover every detail, with ranks in one
// process. Here the programs run as a user runs them: built, under the launcher, over
// the fabrics that connect processes.

// launcher holds what a user has on disk: halo and the programs.
type launcher struct{ dir string }

// built is the folder of all programs that tests have built: each is built once for all tests.
var built string

func TestMain(m *testing.M) {
	testrun.DefaultSignals()
	dir, err := os.MkdirTemp("", "halo-examples-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build returns a folder with halo and the programs, and builds those that no test has built before.
func build(t *testing.T, programs ...string) launcher {
	t.Helper()
	l := launcher{t.TempDir()}
	var missing []string
	programs = append([]string{"../cmd/halo"}, programs...)
	for _, p := range programs {
		if _, err := os.Stat(launcher{built}.path(filepath.Base(p))); err != nil {
			missing = append(missing, "./"+p)
		}
	}
	if len(missing) > 0 {
		l.build(t, built+string(filepath.Separator), missing...)
	}
	for _, p := range programs {
		name := filepath.Base(p)
		if err := os.Link(launcher{built}.path(name), l.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l launcher) build(t *testing.T, to string, what ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-ldflags=-w", "-o", to}, what...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", what, err, out)
	}
}

func (l launcher) path(program string) string {
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return filepath.Join(l.dir, program)
}

// run returns what a command printed and its exit status.
func (l launcher) run(t *testing.T, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, stop := testrun.Context(t.Context())
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = l.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher ends its ranks
	cmd.WaitDelay = time.Minute
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %q: %v", filepath.Base(name), args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// launched runs a program on n ranks and returns what it printed.
func (l launcher) launched(t *testing.T, n int, fabric, program string, args ...string) string {
	t.Helper()
	command := append([]string{"run", "-n", fmt.Sprint(n), "-fabric", fabric, l.path(program)}, args...)
	out, errs, status := l.run(t, l.path("halo"), command...)
	if status != 0 || errs != "" {
		t.Fatalf("halo %q: status %d\n%s%s", command, status, out, errs)
	}
	return out
}

func fabrics() []string {
	if runtime.GOOS == "linux" {
		return []string{"shm", "tcp"}
	}
	return []string{"tcp"} // shm needs Linux
}

// TestLaunchedProgramsGiveTheSerialResult runs each program on 1 to 4 ranks, and over each fabric. The
// tests in the folders run it over each fabric on each number of ranks.
func TestLaunchedProgramsGiveTheSerialResult(t *testing.T) {
	l := build(t, "hello", "ring", "pi", "masterworker", "wordcount", "samplesort", "heat", "columns", "particles", "hashtable", "mcslock", "mpmcqueue", "worksteal", "globalarray", "signals", "taskqueue", "pagerank", "life3d", "pipeline", "matrixfile", "records", "mandelbrot", "spawn", "store")
	alone := func(program string, args ...string) string {
		out, errs, status := l.run(t, l.path(program), args...)
		if status != 0 {
			t.Fatalf("%s without the launcher: status %d\n%s%s", program, status, out, errs)
		}
		return out
	}
	// The tests in the folders compare a world of one rank with the serial computation.
	pi := alone("pi")
	checksum := regexp.MustCompile(`checksum [0-9a-f]{16}\n`)
	heat := []string{"-steps", "120", "-tol", "0", "-o", "heat.png"}
	heatSum := checksum.FindString(alone("heat", heat...))
	heatPNG := l.read(t, "heat.png")
	flight := []string{"-particles", "3000", "-steps", "40"}
	conserved := regexp.MustCompile(`momentum .*\n`).FindString(alone("particles", flight...))
	life := []string{"-cells", "16", "-steps", "30"}
	alive := regexp.MustCompile(`\d+ alive, checksum .*\n`).FindString(alone("life3d", life...))
	l.write(t, "links", "a b\nb c\nc a\nd a\nd c\n")
	links := strings.SplitAfter(alone("pagerank", "links"), " on ")[0]
	alone("matrixfile", "-rows", "50", "-cols", "70", "-o", "matrix")
	matrix := l.read(t, "matrix")
	fractal := []string{"-width", "60", "-height", "40", "-o", "mandelbrot.png"}
	fractalSum := regexp.MustCompile(`^60 x 40 pixels, checksum [0-9a-f]{16}, `).FindString(alone("mandelbrot", fractal...))
	fractalPNG := l.read(t, "mandelbrot.png")
	const primes = "78498 primes below 1000000," // as every table has it
	story, sorted := l.story(t)
	counted := fmt.Sprintf("%8d  halo\n%d words, ", 2*strings.Count(story, "Halo"), 2*len(strings.Fields(story)))

	for _, fabric := range fabrics() {
		for n := 1; n <= 4; n++ {
			if len(fabrics()) > 1 && n < 4 && (n == 2) != (fabric == "tcp") {
				continue // 1, 3 and 4 ranks with memory that they share, 2 and 4 without
			}
			t.Run(fmt.Sprintf("%s/%d", fabric, n), func(t *testing.T) {
				contains := func(out, want string) {
					t.Helper()
					if want == "" || !strings.Contains(out, want) {
						t.Errorf("printed %q, want %q in it", out, want)
					}
				}

				lines := strings.Split(strings.TrimSpace(l.launched(t, n, fabric, "hello")), "\n")
				slices.Sort(lines)
				if len(lines) != n {
					t.Errorf("%d ranks said hello in %d lines: %q", n, len(lines), lines)
				}
				for rank, line := range lines {
					contains(line, fmt.Sprintf("Hello from rank %d of %d on ", rank, n))
				}

				contains(l.launched(t, n, fabric, "spawn", "-workers", "2"), "2 workers: the sum of the numbers up to 1000 is 500500\n")
				contains(l.launched(t, n, fabric, "store"), fmt.Sprintf("%d clients have come and gone\n", n-1))
				contains(l.launched(t, n, fabric, "ring", "-laps", "30"),
					fmt.Sprintf("30 laps round %d ranks: the token is %d,", n, 30*n*(n+1)/2))

				contains(l.launched(t, n, fabric, "pi"), pi) // to the last digit

				contains(l.launched(t, n, fabric, "masterworker"), primes)

				contains(l.launched(t, n, fabric, "wordcount", "-top", "1", "story", "story"), counted) // twice

				contains(l.launched(t, n, fabric, "samplesort", "-o", "sorted", "story"), "verified")
				if string(l.read(t, "sorted")) != sorted {
					t.Error("the sorted file differs from one sorted in memory")
				}

				contains(l.launched(t, n, fabric, "columns", "-rows", "200", "-cols", "60"),
					fmt.Sprintf("200 x 60 numbers on %d ranks, moved 60 times: all are back, verified;", n))

				contains(l.launched(t, n, fabric, "particles", flight...), conserved)

				contains(l.launched(t, n, fabric, "hashtable", "-keys", "2000", "-common", "700"),
					fmt.Sprintf("; %d keys in ", 2000*n+700))

				contains(l.launched(t, n, fabric, "mcslock", "-times", "100"), fmt.Sprintf("; counted %d, all checked\n", 100*n))

				contains(l.launched(t, n, fabric, "mpmcqueue", "-items", "100"), fmt.Sprintf("%d ranks: %d items through ", n, 100*n))

				contains(l.launched(t, n, fabric, "worksteal", "-queens", "9"), "9 queens can be placed in 352 ways; ") // as is well known

				contains(l.launched(t, n, fabric, "globalarray", "-n", "40", "-tile", "11"), "; all are as on one rank\n")

				contains(l.launched(t, n, fabric, "signals", "-tiles", "50", "-rounds", "1"), ", all verified\n")
				contains(l.launched(t, n, fabric, "pipeline", "-batches", "20"), ", all verified\n")

				contains(l.launched(t, n, fabric, "taskqueue", "-tolerance", "1e-4"), "; all as on one rank\n")

				contains(l.launched(t, n, fabric, "pagerank", "links"), links)

				contains(l.launched(t, n, fabric, "life3d", life...), alive)

				contains(l.launched(t, n, fabric, "matrixfile", "-rows", "50", "-cols", "70", "-block", "8", "-o", "matrix"), "; read transposed in ")
				if !bytes.Equal(l.read(t, "matrix"), matrix) {
					t.Error("the file with the matrix differs from that of one rank")
				}

				contains(l.launched(t, n, fabric, "records", "-records", "500"), fmt.Sprintf("%d records of %d ranks, appended by ", 500*n, n))

				contains(l.launched(t, n, fabric, "mandelbrot", fractal...), fractalSum)
				if !bytes.Equal(l.read(t, "mandelbrot.png"), fractalPNG) {
					t.Error("the picture of the set differs from that of one rank")
				}

				halos := []string{"messages"}
				if n == 4 {
					halos = append(halos, "rma-fence", "rma-pscw", "rma-lock", "notify", "sync-counters", "neighbor", "neighbor-persistent")
				}
				for _, halo := range halos {
					if err := os.Remove(filepath.Join(l.dir, "heat.png")); err != nil {
						t.Fatal(err)
					}
					contains(l.launched(t, n, fabric, "heat", append([]string{"-halo", halo}, heat...)...), heatSum)
					if !bytes.Equal(l.read(t, "heat.png"), heatPNG) {
						t.Errorf("by %s the picture differs from that of one rank", halo)
					}
				}
			})
		}
	}
}

// TestProgramsRunAsTheyAre starts each program as its documentation does first, without arguments.
func TestProgramsRunAsTheyAre(t *testing.T) {
	sources, err := filepath.Glob("*/main.go")
	if err != nil || len(sources) < 20 {
		t.Fatalf("%d programs, %v", len(sources), err)
	}
	var programs []string
	for _, s := range sources {
		programs = append(programs, filepath.Dir(s))
	}
	l := build(t, programs...)
	for _, p := range programs {
		if _, errs, status := l.run(t, l.path("halo"), "run", "-n", "4", l.path(p)); status != 0 {
			t.Errorf("%s: status %d\n%s", p, status, errs)
		}
	}
}

func (l launcher) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (l launcher) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// story writes the file story, for programs that read a text. It returns the text,
// and the lines of it sorted in memory. Some lines are empty, the last one does not
// end in a newline, and no word is as frequent as Halo.
func (l launcher) story(t *testing.T) (text, sorted string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"Halo", "moon", "ring", "ice", "ἅλως", "night"}
	lines := make([]string, 5000)
	for i := range lines {
		line := make([]string, random.IntN(12))
		for j := range line {
			line[j] = words[min(random.IntN(len(words)), random.IntN(len(words)))]
		}
		lines[i] = strings.Join(line, " ")
	}
	text = strings.Join(lines, "\n")
	l.write(t, "story", text)
	slices.Sort(lines)
	return text, strings.Join(lines, "\n") + "\n"
}

// A server and its clients are programs that start one after the other, without a launcher.
func TestServerAndClients(t *testing.T) {
	l := build(t, "store")
	service := fmt.Sprintf("-service=%s %d", t.Name(), os.Getpid())
	served := make(chan int)
	go func() {
		_, _, status := l.run(t, l.path("store"), service, "serve")
		served <- status
	}()
	for _, c := range []struct {
		words  string
		out    string
		status int
	}{
		{"set greeting hello", "", 0}, {"get greeting", "hello\n", 0}, {"get x", "", 1}, {"set greeting bye", "", 0}, {"get greeting", "bye\n", 0},
		{"stop", "", 0}, {"-wait=1ms get greeting", "", 1},
	} {
		out, errs, status := l.run(t, l.path("store"), append([]string{service, "-wait=20m"}, strings.Fields(c.words)...)...)
		if out != c.out || status != c.status {
			t.Errorf("store %s: status %d, %q %s", c.words, status, out, errs)
		}
		if c.words == "stop" {
			if status := <-served; status != 0 {
				t.Errorf("the server ends with status %d", status)
			}
		}
	}
}

// TestBadInputEndsAllRanksWithStatus1 checks that a program says what is wrong once, not once for each rank.
func TestBadInputEndsAllRanksWithStatus1(t *testing.T) {
	l := build(t, "heat", "wordcount", "samplesort", "columns", "particles", "hashtable", "mcslock", "mpmcqueue", "worksteal", "globalarray", "signals", "taskqueue", "pagerank", "life3d", "pipeline", "matrixfile", "records", "mandelbrot")
	for i, c := range []struct{ program, arg, want string }{
		{"heat", "none.png", "heat: open none.png: "},
		{"heat", "-steps=-1", "heat: -steps is -1"},
		{"wordcount", "none.txt", "wordcount: stat none.txt: "},
		{"wordcount", "-top=-1", "wordcount: -top is -1"},
		{"samplesort", "none.txt", "samplesort: stat none.txt: "},
		{"columns", "-cols=0", "columns: -rows is 1000 and -cols is 0: "},
		{"particles", "-steps=-1", "particles: -particles is 100000 and -steps is -1, "},
		{"hashtable", "-keys=-1", "hashtable: -keys is -1 and -common is 10000, and -seconds is 0: "},
		{"mcslock", "-times=-1", "mcslock: -times is -1 and -seconds is 0, "},
		{"mpmcqueue", "-slots=0", "mpmcqueue: -items is 500, -slots is 0 "},
		{"worksteal", "-queens=17", "worksteal: -queens is 17, "},
		{"globalarray", "-tile=0", "globalarray: -n is 160, -tile is 0 "},
		{"pipeline", "-partitions=0", "pipeline: -batches is 200, -partitions is 0, "},
		{"signals", "-depth=0", "signals: -tiles is 400, -bytes is 8192, -depth is 0 "},
		{"taskqueue", "-workers=0", "taskqueue: -workers is 0, "},
		{"pagerank", "none.txt", "pagerank: open none.txt: "},
		{"life3d", "-cells=0", "life3d: -cells is 0 and -steps is 100: "},
		{"matrixfile", "-block=0", "matrixfile: -rows is 1000, -cols is 600 and -block is 0, "},
		{"matrixfile", "-o=none/out", "none/out: open with MPI_MODE_CREATE|MPI_MODE_RDWR: no such file or directory (MPI_ERR_NO_SUCH_FILE)"},
		{"records", "-records=-1", "records: -records is -1, "},
		{"mandelbrot", "-width=0", "mandelbrot: -width is 0, -height is 400 "},
		{"mandelbrot", "-o=none/out", "mandelbrot: open none/out: "},
		{"heat", "-restart=none.ck", "heat: open none.ck: "},
		{"heat", "-checkpoint=none/ck", "heat: open none/ck.part: "},
		{"heat", "-halo=smoke", "want one of messages, rma-fence, "},
		{"samplesort", "-o=none/out", "samplesort: open none/out.part: "},
	} {
		fabric := fabrics()[i%len(fabrics())]
		_, errs, status := l.run(t, l.path("halo"), "run", "-n", "3", "-fabric", fabric, l.path(c.program), c.arg)
		if status != 1 || strings.Count(errs, c.want) != 1 {
			t.Errorf("%s %s over %s: status %d, want 1; %q, want %q in it once", c.program, c.arg, fabric, status, errs, c.want)
		}
		_, errs, status = l.run(t, l.path(c.program), c.arg)
		if status != 1 || strings.Count(errs, c.want) != 1 {
			t.Errorf("%s %s without the launcher: status %d, want 1; %q, want %q in it once", c.program, c.arg, status, errs, c.want)
		}
	}
}

// TestProgramOfTheReadmeRuns builds the first Go program in README.md.
func TestProgramOfTheReadmeRuns(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md has no Go program")
	}
	l := build(t)
	source := filepath.Join(l.dir, "readme.go")
	if err := os.WriteFile(source, block[1], 0o644); err != nil {
		t.Fatal(err)
	}
	l.build(t, l.path("readme"), source) // outside the module, but built from within
	out := l.launched(t, 4, fabrics()[0], "readme")
	for rank := range 4 {
		if line := fmt.Sprintf("rank %d of 4: the sum is 10\n", rank); strings.Count(out, line) != 1 {
			t.Errorf("printed %q, want %q in it once", out, line)
		}
	}
}
