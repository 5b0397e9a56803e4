package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// node is the node of a target: the lock in shared memory with three processes, of which process 2 is the target. What
// the Service does with its claim is noted.
type node struct {
	service Service
	lock    *shmfmt.Lock
	dead    shmfmt.Dead
	sleeps  bool // Step has said so
	rung    bool // the service must look again
	done    []string
}

const local = 3

func newNode(t *testing.T) *node {
	t.Helper()
	control, err := shmfmt.FormatWindow(make([]byte, shmfmt.WindowSize(local)), 1, local)
	if err != nil {
		t.Fatal(err)
	}
	return &node{lock: control.Lock(), dead: shmfmt.NewDead(local)}
}

func (n *node) note(format string, args ...any) {
	n.done = append(n.done, fmt.Sprintf(format, args...))
}

func (n *node) ring(claimant int) {
	if claimant == n.lock.Service() {
		n.rung = true
	} else {
		n.note("ring %d", claimant)
	}
}

func (n *node) Make(exclusive bool) {
	n.note("claim %s", mode(exclusive))
	n.lock.Claim(n.lock.Service(), exclusive, n.ring)
}

func (n *node) Look() shmfmt.LockState { return n.lock.Look(n.lock.Service(), n.dead) }

func (n *node) Hold() {
	n.note("hold")
	n.lock.Hold(n.lock.Service())
}

func (n *node) AnnounceSleep(found shmfmt.LockState) {
	n.note("sleep")
	n.lock.AnnounceSleep(n.lock.Service(), found)
}

func (n *node) Contended() bool { return n.lock.Contended(n.lock.Service(), n.dead) }

func (n *node) Release() {
	n.note("release")
	n.lock.Release(n.lock.Service(), n.dead, n.ring)
}

func (n *node) DeadHolder() (rank int, died bool) {
	local, far := n.lock.ReapDead(n.dead)
	return max(local, far), local >= 0 || far >= 0
}

func (n *node) Grant(process int32) { n.note("grant %d", process) }

func (n *node) Refuse(process int32, died int) { n.note("refuse %d, %d died", process, died) }

func mode(exclusive bool) string {
	if exclusive {
		return "exclusive"
	}
	return "shared"
}

// do executes a line of a script, and returns what it and the steps that follow have done.
func (n *node) do(words []string) (string, error) {
	n.done = nil
	number, err := strconv.Atoi(words[1])
	if err != nil {
		return "", err
	}
	process, options := int32(number), words[2:]
	exclusive := slices.Contains(options, "exclusive")
	switch words[0] {
	case "ask": // a process on another node asks for the lock
		if !n.service.Ask(Request{process, exclusive, slices.Contains(options, "quiet")}) {
			n.note("false")
		}
	case "speak":
		if !n.service.Speak(process) {
			n.note("false")
		}
	case "return":
		if !n.service.Return(process) {
			n.note("false")
		}
	case "lose": // a process on another node has died
		if n.service.Lose(process) {
			n.lock.Orphaned(number)
		}
	case "claim": // a process of the node claims the lock, and looks once
		n.lock.Claim(number, exclusive, n.ring)
		if n.lock.Look(number, n.dead) == shmfmt.LockFree {
			n.lock.Hold(number)
			n.note("%d has it", number)
		} else {
			n.lock.AnnounceSleep(number, shmfmt.LockTaken)
		}
	case "look": // a process of the node that has claimed the lock looks again
		if n.lock.Look(number, n.dead) != shmfmt.LockFree {
			n.note("taken")
			break
		}
		n.lock.Hold(number)
		n.note("%d has it", number)
		if died, ok := n.DeadHolder(); ok {
			n.note("%d died", died)
		}
	case "release":
		n.lock.Release(number, n.dead, n.ring)
	case "die": // a process of the node
		n.dead.Add(number)
		n.lock.WakeAfterDeath(n.dead, n.ring)
	default:
		return "", fmt.Errorf("unknown word %q", words[0])
	}
	for again := true; again; again = n.rung {
		n.rung = false
		_, n.sleeps = n.service.Step(n)
	}
	return strings.Join(n.done, ", "), n.check()
}

// check returns an error if the state is one that must not be.
func (n *node) check() error {
	s := &n.service
	switch {
	case len(s.holders) > 0 && !(s.claimed && s.held):
		return fmt.Errorf("%d have a lock that the service does not hold", s.holders)
	case len(s.holders) > 1 && !s.shared:
		return fmt.Errorf("%d have an exclusive lock together", s.holders)
	case s.claimed && len(s.holders) == 0 && !n.sleeps:
		return fmt.Errorf("the service holds a claim for nobody")
	case !s.claimed && len(s.queue) > 0:
		return fmt.Errorf("%v wait without a claim", s.queue)
	}
	return nil
}

// RW-09, F3: the scripts of testdata. A line is an event, and behind the arrow what follows from it. A line "new" begins
// with a new window; the rest of a line behind # is a comment.
func TestRW09_Scripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := newNode(t)
			for i, line := range strings.Split(string(text), "\n") {
				line, _, _ = strings.Cut(line, "#")
				event, want, _ := strings.Cut(line, "->")
				words := strings.Fields(event)
				switch {
				case len(words) == 0:
					continue
				case words[0] == "new":
					n = newNode(t)
					continue
				}
				got, err := n.do(words)
				if err != nil {
					t.Fatalf("line %d: %s: %v", i+1, event, err)
				}
				if got != strings.TrimSpace(want) {
					t.Fatalf("line %d: %s-> %s\nwant %s", i+1, event, got, want)
				}
			}
		})
	}
}

// A step allocates nothing once the queue has its room.
func TestStepAllocatesNothing(t *testing.T) {
	n := newNode(t)
	c := quiet{n}
	round := func() {
		for p := range int32(4) {
			n.service.Ask(Request{Process: p, Exclusive: p == 2})
		}
		for p := range int32(4) {
			n.service.Step(c)
			n.service.Return(p)
		}
		n.service.Step(c)
	}
	round()
	if a := testing.AllocsPerRun(100, round); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// quiet is a node that notes nothing.
type quiet struct{ *node }

func (q quiet) Make(exclusive bool) { q.lock.Claim(q.lock.Service(), exclusive, func(int) {}) }
func (q quiet) Hold()               { q.lock.Hold(q.lock.Service()) }
func (q quiet) Release()            { q.lock.Release(q.lock.Service(), q.dead, func(int) {}) }
func (q quiet) Grant(int32)         {}
