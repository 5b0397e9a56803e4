package apply

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

func TestMain(m *testing.M) {
	if text := os.Getenv("HALO_APPLY_PROCESS"); text != "" {
		process(text)
		return
	}
	leak.Main(m)
}

const (
	// most is the number of processes that can share memory in these tests. Most of them die.
	most = 24
	// testTimeout is how long a test waits for an event that must happen.
	testTimeout = testrun.Long
	// hotOlds is how many previous values of the hot element a process records.
	hotOlds = 4096
	// hot is an element that many updates change.
	hot = 5
)

// shared is the memory of the processes; the stripes and the region follow it.
type shared struct {
	ready atomic.Uint32 // the number of processes that are ready to begin
	begin atomic.Uint32 // set when they may begin
	stop  atomic.Uint32
	_     [52]byte
	each  [most]struct {
		dead    atomic.Uint32 // set by the parent after it has seen the process end
		_       uint32
		started atomic.Uint64 // the number of updates begun
		done    atomic.Uint64 // the number of updates ended
		_       [40]byte
	}
	olds [most][hotOlds]uint64
}

// setting holds the parameters of a process, which it gets in its environment.
type setting struct {
	me, at, count int
	typ           op.Type
	fine          bool
	updates       int // the number of updates; 0: until stop is set
	point         int // where to die, if not 0
}

func (s setting) String() string {
	return fmt.Sprint(s.me, s.at, s.count, uint16(s.typ), s.fine, s.updates, s.point)
}

// memory is the memory that processes of these tests share.
type memory struct {
	*shared
	all    []byte
	file   *os.File
	region Region
}

func sizeOf(s setting) int64 {
	return int64(unsafe.Sizeof(shared{})) + shmfmt.StripesSize(most) + 64 + int64(s.at+s.count*s.typ.Size())
}

// attach maps the memory.
func attach(f *os.File, s setting) (*memory, error) {
	all, err := sys.Map(f, sizeOf(s))
	if err != nil {
		return nil, err
	}
	m := &memory{shared: (*shared)(unsafe.Pointer(&all[0])), all: all, file: f}
	rest := all[unsafe.Sizeof(shared{}):]
	m.region = Region{
		Mem:     rest[shmfmt.StripesSize(most)+int64(s.at):][:s.count*s.typ.Size()],
		Stripes: shmfmt.OpenStripes(rest, most), Me: s.me, Kernel: op.BestKernel(), Fine: s.fine, Yield: sys.Yield,
		Dead: func(process int) bool { return m.each[process].dead.Load() != 0 },
	}
	return m, nil
}

// newMemory makes the memory for the parent, which is process 0.
func newMemory(t *testing.T, s setting) *memory {
	t.Helper()
	f, err := sys.Memfd("halo-apply-test", sizeOf(s))
	if err != nil {
		t.Fatal(err)
	}
	m, err := attach(f, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Unmap(m.all); f.Close() })
	return m
}

// command returns the command that starts a process.
func (m *memory) command(s setting) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "HALO_APPLY_PROCESS="+s.String(), "GOMAXPROCS=2")
	c.ExtraFiles = []*os.File{m.file}
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// start starts a process.
func (m *memory) start(t *testing.T, s setting) *exec.Cmd {
	t.Helper()
	runtime.LockOSThread() // Pdeathsig acts at the end of this thread, which lasts as long as the test
	c := m.command(s)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

// until waits for an event that other processes cause.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !happened(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, testTimeout)
		}
	}
}

// update returns the i-th update of a process: n elements from one on, and the way to update
// them.
func update(s setting, i uint64) (from, n, how int) {
	g := rand.New(rand.NewPCG(uint64(s.me), i))
	switch g.IntN(4) {
	case 0:
		from, n = hot, 1
	case 1:
		from, n = g.IntN(s.count), 1
	case 2:
		from, n = g.IntN(hot+1), hot+1+g.IntN(40)
	default:
		n = 1 + g.IntN(s.count/2)
		from = g.IntN(s.count - n)
	}
	return from, n, g.IntN(4)
}

// process is the main function of a process of the tests: it makes updates by ones.
func process(text string) {
	var s setting
	var typ uint16
	if _, err := fmt.Sscan(text, &s.me, &s.at, &s.count, &typ, &s.fine, &s.updates, &s.point); err != nil {
		panic(err)
	}
	s.typ = op.Type(typ)
	m, err := attach(os.NewFile(3, "memory"), s)
	if err != nil {
		panic(err)
	}
	switch {
	case s.point > 0:
		m.die(s)
	case s.point < 0:
		m.step(s)
	}
	size, noted := s.typ.Size(), 0
	ones := bytes.Repeat(one(s.typ), s.count)
	old := make([]byte, s.count*size)
	mine := &m.each[s.me]
	m.ready.Add(1)
	for m.begin.Load() == 0 {
		sys.Yield()
	}
	for i := uint64(0); m.stop.Load() == 0 && (s.updates == 0 || i < uint64(s.updates)); i++ {
		from, n, how := update(s, i)
		at := int64(from * size)
		was := old[:n*size]
		mine.started.Store(i + 1)
		switch {
		case n == 1 && how == 0 && size <= 16:
			m.region.FetchOp(at, op.NoOp, s.typ, nil, was)
			for {
				expected := bytes.Clone(was)
				next := bytes.Clone(was)
				op.Apply(op.Sum, s.typ, next, next, ones[:size])
				m.region.CompareSwap(at, size, next, expected, was)
				if bytes.Equal(was, expected) {
					break
				}
			}
		case n == 1 && how == 1:
			m.region.FetchOp(at, op.Sum, s.typ, ones, was)
		default:
			m.region.Accumulate(at, op.Sum, s.typ, ones[:n*size], was)
		}
		mine.done.Store(i + 1)
		if s.typ == op.Int64 && from <= hot && hot < from+n && noted < hotOlds {
			m.olds[s.me][noted] = 1 + *(*uint64)(unsafe.Pointer(&was[(hot-from)*8]))
			noted++
		}
	}
}

// replay counts the completed updates of a process, by element. changes has the differences
// between consecutive elements; counted turns them into counts.
func (m *memory) replay(s setting, changes []int) {
	for i := range m.each[s.me].done.Load() {
		from, n, _ := update(s, i)
		changes[from]++
		changes[from+n]--
	}
}

func counted(changes []int) []int {
	for e := 1; e < len(changes); e++ {
		changes[e] += changes[e-1]
	}
	return changes[:len(changes)-1]
}

// RC-03, RC-04, RC-11, RC-17, X-RMA-16: sums of ones are exact among processes that share
// memory.
func TestRC11_Processes(t *testing.T) {
	updates := 800
	if sys.Race { // the detector does not see what other processes do
		updates = 100
	}
	for _, typ := range counters {
		for _, at := range []int{0, 2} {
			if (at != 0 || sys.Race) && typ != op.Int64 && typ != op.Complex128 {
				continue
			}
			for _, fine := range []bool{false, true} {
				if fine && typ != op.Int64 && typ != op.Uint8 && typ != op.Int128 {
					continue
				}
				t.Run(fmt.Sprintf("%v/at=%d/fine=%t", typ, at, fine), func(t *testing.T) {
					s := setting{at: at, count: 2000, typ: typ, fine: fine, updates: updates}
					m := newMemory(t, s)
					changes := make([]int, s.count+1)
					var all []*exec.Cmd
					for me := range 3 {
						s.me = me
						all = append(all, m.start(t, s))
					}
					until(t, "all are there", func() bool { return m.ready.Load() == 3 })
					m.begin.Store(1)
					for me, c := range all {
						if err := c.Wait(); err != nil {
							t.Fatal(err)
						}
						s.me = me
						m.replay(s, changes)
					}
					size, added := typ.Size(), counted(changes)
					for e, n := range added {
						if got, want := m.region.Mem[e*size:][:size], number(typ, n); !bytes.Equal(got, want) {
							t.Fatalf("element %d is %x, want %d: %x", e, got, n, want)
						}
					}
					if typ == op.Int64 {
						seen := make([]bool, added[hot])
						for me := range 3 {
							for _, old := range m.olds[me] {
								if old != 0 && (old > uint64(len(seen)) || seen[old-1]) {
									t.Fatalf("value %d before an update came twice, or is none of %d", old-1, len(seen))
								} else if old != 0 {
									seen[old-1] = true
								}
							}
						}
						for v, yes := range seen {
							if !yes {
								t.Fatalf("no update found %d", v)
							}
						}
					}
					idle(t, m.region.Stripes)
				})
			}
		}
	}
}
