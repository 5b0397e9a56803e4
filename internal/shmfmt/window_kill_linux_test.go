package shmfmt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

const (
	// lockers is the number of processes that lock in the tests below.
	lockers = 6
	// lockerVariable is the environment variable that makes this test binary one of them; its
	// value is the number of the process.
	lockerVariable = "HALO_TEST_LOCKER"
)

// lockerMemory is the memory that the processes share, behind the control block.
type lockerMemory struct {
	dead    [1]atomic.Uint64       // as the parent has found them
	writers atomic.Uint64          // 1 + who has the lock exclusively
	readers [lockers]atomic.Uint64 // who has it shared
	phase   [lockers]atomic.Uint64 // where in its round a process is
	rounds  [lockers]atomic.Uint64 // that it has ended
	told    atomic.Uint64          // deaths that were told of
	stop    atomic.Uint64          // asks all to end
	stay    atomic.Uint64          // 1 + who stays in the lock until it is killed
	broken  atomic.Uint64          // two were in it together
}

const (
	outside uint64 = iota
	entering
	inside
	staying // inside, until it is killed
	leaving
)

func openLockerMemory(mem []byte) (*Window, *lockerMemory, error) {
	at := (WindowSize(lockers) + Line - 1) &^ (Line - 1)
	w, err := OpenWindow(mem, 9, lockers)
	return w, (*lockerMemory)(unsafe.Pointer(&mem[at])), err
}

// runLocker is a process of the test below: it locks, shared or exclusively, checks that no holder
// conflicts, and unlocks.
func runLocker(number string) {
	me, _ := strconv.Atoi(number)
	mem, err := sys.Map(os.NewFile(3, "memory"), 1<<20)
	if err != nil {
		panic(err)
	}
	w, m, err := openLockerMemory(mem)
	if err != nil {
		panic(err)
	}
	l, ring := w.Lock(), func(int) {}
	dead := Dead(m.dead[:])
	g := rand.New(rand.NewPCG(uint64(me), uint64(os.Getpid())))
	for m.stop.Load() == 0 {
		exclusive := g.IntN(2) == 0
		m.phase[me].Store(entering)
		l.Claim(me, exclusive, ring)
		for found := l.Look(me, dead); found != LockFree; found = l.Look(me, dead) {
			if g.IntN(4) == 0 {
				l.AnnounceSleep(me, found)
			}
			runtime.Gosched()
			sys.Yield()
		}
		l.Hold(me)
		m.phase[me].Store(inside)
		if local, _ := l.ReapDead(dead); local >= 0 {
			m.told.Add(1)
		}
		if exclusive {
			m.writers.Store(uint64(me) + 1)
			for i := range lockers {
				if i != me && !dead.Has(i) && m.readers[i].Load() != 0 {
					m.broken.Store(1)
				}
			}
			m.linger(me, g)
			if m.writers.Load() != uint64(me)+1 {
				m.broken.Store(2)
			}
			m.writers.CompareAndSwap(uint64(me)+1, 0)
		} else {
			m.readers[me].Store(1)
			m.linger(me, g)
			if o := m.writers.Load(); o != 0 && !dead.Has(int(o-1)) {
				m.broken.Store(3)
			}
			m.readers[me].Store(0)
		}
		m.phase[me].Store(leaving)
		l.Release(me, dead, ring)
		m.rounds[me].Add(1)
		m.phase[me].Store(outside)
	}
}

// linger sometimes yields the core, so that processes are killed as holders too. It does not return in a
// process that must be killed there.
func (m *lockerMemory) linger(me int, g *rand.Rand) {
	for range g.IntN(4) {
		sys.Yield()
	}
	for m.stay.Load() == uint64(me)+1 {
		m.phase[me].Store(staying)
		sys.Yield()
	}
}

// F3: processes that share a lock are killed with SIGKILL, one after the other, at any point. The others
// continue, holders never conflict, and the death of each holder is reported to one process.
func TestF3_KilledAtAnyMoment(t *testing.T) {
	runs := 12
	if testing.Short() || sys.Race {
		runs = 4
	}
	for run := range runs {
		killSome(t, run)
	}
}

// killSome kills all processes but one, the first of them while it holds the lock.
func killSome(t *testing.T, run int) {
	f, err := sys.Memfd("halo-test-lock", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := sys.Map(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Unmap(mem)
	if _, err := FormatWindow(mem, 9, lockers); err != nil {
		t.Fatal(err)
	}
	_, m, err := openLockerMemory(mem)
	if err != nil {
		t.Fatal(err)
	}
	var all [lockers]*exec.Cmd
	for i := range all {
		all[i] = exec.Command(os.Args[0])
		all[i].Env = append(os.Environ(), fmt.Sprintf("%s=%d", lockerVariable, i))
		all[i].ExtraFiles = []*os.File{f}
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
		defer all[i].Process.Kill()
	}
	wait := func(what string, ready func() bool) { testrun.Until(t, fmt.Sprintf("run %d: %s", run, what), ready) }
	progress := func(what string, alive []int) {
		var before [lockers]uint64
		for _, i := range alive {
			before[i] = m.rounds[i].Load()
		}
		for _, i := range alive {
			wait(fmt.Sprintf("%s: process %d goes on", what, i), func() bool {
				return m.rounds[i].Load() >= before[i]+20
			})
		}
	}
	alive := make([]int, lockers)
	for i := range alive {
		alive[i] = i
	}
	progress("at the beginning", alive)
	g := rand.New(rand.NewPCG(uint64(run), 2))
	least, most := uint64(0), uint64(0)
	for len(alive) > 1 {
		k := g.IntN(len(alive))
		victim := alive[k]
		if len(alive) == lockers {
			m.stay.Store(uint64(victim) + 1)
			wait(fmt.Sprintf("process %d gets the lock", victim), func() bool {
				return m.phase[victim].Load() == staying
			})
		}
		for range g.IntN(50) {
			runtime.Gosched()
		}
		all[victim].Process.Kill()
		all[victim].Wait()
		switch m.phase[victim].Load() {
		case inside, staying:
			least, most = least+1, most+1
		case entering, leaving: // with it or without
			most++
		}
		alive = append(alive[:k], alive[k+1:]...)
		if g.IntN(2) == 0 {
			time.Sleep(time.Duration(g.IntN(300)) * time.Microsecond) // the news takes time
		}
		m.dead[0].Or(1 << victim)
		progress(fmt.Sprintf("after the death of %d", victim), alive)
	}
	m.stop.Store(1)
	for _, i := range alive {
		if err := all[i].Wait(); err != nil {
			t.Errorf("run %d: process %d: %v", run, i, err)
		}
	}
	if b := m.broken.Load(); b != 0 {
		t.Errorf("run %d: the lock was broken, case %d", run, b)
	}
	if told := m.told.Load(); told < least || told > most {
		t.Errorf("run %d: told of %d deaths, want %d to %d", run, told, least, most)
	}
	t.Logf("run %d: told of %d deaths of %d to %d", run, m.told.Load(), least, most)
}
