package heap

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// reserve is the reciprocal of the part of the free memory that no block may take: the
	// free memory is an estimate, and the program needs some for itself.
	reserve = 16
	// stepShare is the reciprocal of the part of the free memory that is allocated after one check,
	// so that processes that allocate at the same time see each other.
	stepShare = 64
	// stepMin is the smallest step of a block that is allocated after one check, in bytes.
	stepMin = 1 << 20
	// uncheckedMax is how many bytes of later blocks a check permits at most, since much time may
	// pass until they are allocated. A check takes some 200 us.
	uncheckedMax = 16 << 20
)

// Room is how much memory is free for a process.
type Room struct {
	Free int64  // bytes
	Who  string // what the free memory is, for errors: "available on this machine"
}

// Budget ensures that memory is allocated only if enough is free: otherwise the kernel would
// kill some process instead of returning an error. It reads the free memory of the machine and
// of the control groups of the process.
type Budget struct {
	look   func() Room
	mu     sync.Mutex
	credit int64 // bytes that may be allocated before the next call of look
}

// NewBudget returns the budget of this machine.
func NewBudget() *Budget {
	root := os.DirFS("/")
	return &Budget{look: func() Room { return machine(root) }}
}

// admit refuses a long block for which not enough memory is free, before the heap looks for space.
func (b *Budget) admit(size int64) error {
	if size > uncheckedMax {
		if r := b.look(); size > r.usable() {
			return r.refusal()
		}
	}
	return nil
}

// spend calls commit for one piece of size bytes after the other, while enough memory is free for the
// rest. If spend fails, some pieces may be committed.
func (b *Budget) spend(size int64, commit func(done, n int64) error) error {
	for done := int64(0); done < size; {
		n, err := b.grant(size - done)
		if err == nil {
			err = commit(done, n)
		}
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// grant returns how many of size bytes may be allocated now: all, or a multiple of stepMin.
func (b *Budget) grant(size int64) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if size <= b.credit {
		b.credit -= size
		return size, nil
	}
	r := b.look()
	if size > r.usable() {
		b.credit = 0
		return 0, r.refusal()
	}
	step := max(stepMin, down(r.Free/stepShare, stepMin))
	b.credit = min(r.Free/stepShare, uncheckedMax)
	return min(size, step), nil
}

func (r Room) usable() int64 { return r.Free - r.Free/reserve }

func (r Room) refusal() error {
	return fmt.Errorf("%d may be taken, %d are %s", r.usable(), r.Free, r.Who)
}

// machine reads how much memory is free, from the file system at root: what the kernel reports as
// available, or less if a control group permits less.
func machine(root fs.FS) Room {
	r := Room{Free: int64(sys.PhysicalMemory()), Who: "all of this machine"}
	text, _ := fs.ReadFile(root, "proc/meminfo")
	if n, ok := field(text, "MemAvailable:"); ok && n < r.Free>>10 {
		r = Room{n << 10, "available on this machine"}
	}
	text, _ = fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		// Number, controllers, path; the line of version 2 names no controllers.
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, c := range strings.Split(parts[1], ",") {
			if c == "" {
				r = r.within(root, groupFiles{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}, parts[2])
			} else if c == "memory" {
				r = r.within(root, groupFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, parts[2])
			}
		}
	}
	return r
}

// groupFiles are the files of a version of control groups, below dir.
type groupFiles struct{ dir, limit, usage, idle string }

// within returns r, or what the control group at place or one above it permits, if that is less. A
// container may hide the groups above, or the place itself: then the group at the top is that of the
// container.
func (r Room) within(root fs.FS, g groupFiles, place string) Room {
	for place = path.Clean("/" + place); ; place = path.Dir(place) {
		dir := path.Join(g.dir, place)
		limit, limited := number(root, path.Join(dir, g.limit))
		usage, known := number(root, path.Join(dir, g.usage))
		if limited && known {
			// The kernel reclaims pages of files that were not used lately.
			text, _ := fs.ReadFile(root, path.Join(dir, "memory.stat"))
			idle, _ := field(text, g.idle)
			if free := max(0, limit-usage+min(idle, usage)); free < r.Free {
				r = Room{free, fmt.Sprintf("left to control group %s of %d", place, limit)}
			}
		}
		if place == "/" {
			return r
		}
	}
}

// number returns the number in a file.
func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // or "max"
	return n, err == nil && n >= 0
}

// field returns the number after a name, which is the first word of its line.
func field(text []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) >= 2 && w[0] == name {
			n, err := strconv.ParseInt(w[1], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
