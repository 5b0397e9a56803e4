package heap

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/halo-mpi/halo/internal/class"
)

// files makes a file system from pairs of name and content.
func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

const meminfo = "MemTotal:       24684092 kB\nMemFree:        1000 kB\nMemAvailable:   1048576 kB\nBuffers:  1 kB\n"

// MEM-04: the memory that a process may take is limited by the machine and by the strictest of
// its control groups, of version 2 or 1, inside a container or outside.
func TestMEM04MachineAndControlGroups(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	for name, c := range map[string]struct {
		root fstest.MapFS
		free int64
		who  string
	}{
		"machine":       {files("proc/meminfo", meminfo), gib, "available on this machine"},
		"no limit":      {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/\n"), gib, "machine"},
		"max is no end": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "max\n", "sys/fs/cgroup/a/memory.current", "5\n"), gib, "machine"},
		"version 2": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max", "104857600\n", "sys/fs/cgroup/a/b/memory.current", "4194304\n"), 96 * mib, "group /a/b of 104857600"},
		"files that may go": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a\n",
			"sys/fs/cgroup/a/memory.max", "104857600\n", "sys/fs/cgroup/a/memory.current", "94371840\n",
			"sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_anon 7\ninactive_file 83886080\nactive_file 9\n"), 90 * mib, "group /a of"},
		"a group above": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a/b/c\n",
			"sys/fs/cgroup/a/memory.max", "10485760\n", "sys/fs/cgroup/a/memory.current", "2097152\n",
			"sys/fs/cgroup/a/b/c/memory.max", "104857600\n", "sys/fs/cgroup/a/b/c/memory.current", "1048576\n"), 8 * mib, "group /a of"},
		"all in use": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a\n",
			"sys/fs/cgroup/a/memory.max", "10485760\n", "sys/fs/cgroup/a/memory.current", "20971520\n"), 0, "group /a"},
		"version 1": {files("proc/meminfo", meminfo, "proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/a\n0::/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "10485760\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "6291456\n",
			"sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 2097152\n"), 6 * mib, "group /a"},
		"version 1 without a limit": {files("proc/meminfo", meminfo, "proc/self/cgroup", "4:memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "6291456\n"), gib, "machine"},
		"in a container that sees only itself": {files("proc/meminfo", meminfo, "proc/self/cgroup", "4:memory:/docker/77\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "10485760\n", "sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n"), 10 * mib, "group / of"},
		"nonsense": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a\nx\n\n:::\n0::../../b\n",
			"sys/fs/cgroup/a/memory.max", "-1\n", "sys/fs/cgroup/a/memory.current", "zero\n", "sys/fs/cgroup/b/memory.max", "7x", "sys/fs/cgroup/b/memory.current", ""), gib, "machine"},
	} {
		if r := machine(c.root); r.Free != c.free || !strings.Contains(r.Who, c.who) {
			t.Errorf("%s: %d %s, want %d %s", name, r.Free, r.Who, c.free, c.who)
		}
	}
	// Without any information the limit is the memory of the machine, which is not 0.
	if r := machine(files()); r.Free < 16*mib {
		t.Errorf("nothing known: %d %s", r.Free, r.Who)
	}
	if r := machine(os.DirFS("/")); r.Free < 16*mib || r.Free > 1<<50 {
		t.Errorf("this machine: %d %s", r.Free, r.Who)
	}
}

// sized simulates a machine with free bytes of memory, which become fewer when take takes some.
type sized struct {
	free  int64
	looks int
}

func (s *sized) budget() *Budget {
	return &Budget{look: func() Room {
		s.looks++
		return Room{s.free, "available to the test"}
	}}
}

func (s *sized) take(_, n int64) error {
	s.free -= n
	return nil
}

// spend reads the free memory again between pieces: so two processes that allocate at the same
// time see each other, and neither takes the reserve.
func TestMEM04TwoWhoTakeTogetherDoNotTakeTooMuch(t *testing.T) {
	const machine = 1 << 30
	s := &sized{free: machine}
	a, b := s.budget(), s.budget()
	var inner error
	outer := a.spend(machine*2/3, func(done, n int64) error {
		s.take(done, n)
		if done == 0 {
			inner = b.spend(machine*2/3, s.take)
		}
		return nil
	})
	if outer == nil || inner != nil {
		t.Errorf("of two who each want two thirds the one within gets %v, the other %v", inner, outer)
	}
	if s.free < machine/reserve/2 {
		t.Errorf("%d bytes of %d are left", s.free, int64(machine))
	}
	if err := b.spend(s.free-s.free/reserve+1, s.take); err == nil || !strings.Contains(err.Error(), "available to the test") {
		t.Errorf("one byte too much: %v", err)
	}
	if err := b.spend(s.free-s.free/reserve, s.take); err != nil {
		t.Errorf("all that may be taken: %v", err)
	}
}

func TestSmallBlocksAreNotLookedForEachTime(t *testing.T) {
	s := &sized{free: 1 << 30}
	b := s.budget()
	for range 1 << 14 {
		if err := b.spend(4096, s.take); err != nil {
			t.Fatal(err)
		}
	}
	if s.looks < 4 || s.looks > 16 {
		t.Errorf("%d looks for 64 MiB in pages", s.looks)
	}
}

func TestSpendStopsAtAnError(t *testing.T) {
	s := &sized{free: 1 << 30}
	want := errors.New("the kernel refuses")
	calls := 0
	if err := s.budget().spend(512<<20, func(done, n int64) error {
		calls++
		if calls == 3 {
			return want
		}
		return nil
	}); err != want || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// MEM-04: impossible sizes are refused at once, with an error of class NO_MEM that names the
// numbers, and take no memory.
func TestMEM04AbsurdSizes(t *testing.T) {
	for name, open := range backings(t) {
		s := &sized{free: 1 << 28}
		h := open(s.budget())
		for _, size := range []int64{1 << 60, 1<<63 - 1, 1 << 62, 1 << 40, 1 << 28, 1<<28 - 1<<24 + 1} {
			for _, align := range []int64{0, 4096, maxAlign} {
				_, _, err := h.Alloc(size, align)
				var e *class.Error
				if !errors.As(err, &e) || e.Class != class.NoMem || !strings.Contains(e.Text, fmt.Sprint(size, " bytes of memory: ", 1<<28-1<<24, " may be taken, ", 1<<28, " are available to the test")) {
					t.Errorf("%s: %d bytes at a multiple of %d: %v", name, size, align, err)
				}
			}
		}
		for _, align := range []int64{maxAlign << 1, 1 << 62} {
			_, _, err := h.Alloc(8, align)
			var e *class.Error
			if !errors.As(err, &e) || e.Class != class.NoMem {
				t.Errorf("%s: 8 bytes at a multiple of %d: %v", name, align, err)
			}
		}
		for _, bad := range [][2]int64{{-1, 0}, {-1 << 63, 64}, {8, 96}, {8, 1<<62 + 64}} {
			_, _, err := h.Alloc(bad[0], bad[1])
			var e *class.Error
			if !errors.As(err, &e) || e.Class != class.Arg {
				t.Errorf("%s: %d bytes at a multiple of %d: %v", name, bad[0], bad[1], err)
			}
		}
		if n, size := h.Live(); n != 0 || size != 0 {
			t.Errorf("%s: %d blocks of %d bytes are left", name, n, size)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	root := os.DirFS("/")
	for b.Loop() {
		machine(root)
	}
}
