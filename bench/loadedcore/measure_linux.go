package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// machine describes the machine.
func machine() string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("Linux %s, %s, %d cores", strings.TrimSpace(string(release)), runtime.GOARCH, runtime.NumCPU())
}

// A plan says how many samples there are, and how long the program spins for those that it cannot count.
type plan struct {
	cores             []int // that this process may use: the last one is measured
	many, few, moves  int
	spin, idle, sleep time.Duration // sleep is for how long a thread is asleep before it is woken, idle for how long in an idle core
}

// measured is the core on which is measured.
func (p *plan) measured() int { return p.cores[len(p.cores)-1] }

// measure measures all rows.
func measure(quick bool) ([]row, error) {
	// One goroutine for each thread that is measured, and no interruption by the runtime.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 2))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	cores, err := sys.AllowedCPUs()
	if err != nil {
		return nil, err
	}
	p := &plan{cores: cores, many: 20000, few: 300, moves: 200, spin: 1500 * time.Millisecond, idle: 2 * time.Millisecond, sleep: 100 * time.Microsecond}
	if quick {
		p.many, p.few, p.moves, p.spin = 100, 5, 5, 20*time.Millisecond
	}
	var rows []row
	for _, part := range []func(*plan) ([]row, error){alone, besideStranger, moved} {
		more, err := part(p)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// alone measures on a core that nobody else uses.
func alone(p *plan) ([]row, error) {
	rows := []row{{what: "a look at the clock"}, {what: "sched_yield, nobody else on the core"}}
	err := onCore(p.measured(), func() error {
		rows[0].samples = looks(p.many)
		rows[1].samples = yields(p.many, 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		what   string
		asleep time.Duration
	}{{"wake-up by futex, core idle for 0.1 ms", p.sleep}, {"wake-up by futex, core idle for 2 ms", p.idle}} {
		woken, calls, err := p.wakeUps(x.asleep, 0)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{x.what, woken}, row{"  the call that wakes", calls})
	}
	return rows, nil
}

// besideStranger measures on a core on which a stranger computes.
func besideStranger(p *plan) ([]row, error) {
	stop, err := startStranger(p.measured())
	if err != nil {
		return nil, err
	}
	defer stop()
	rows := []row{
		{what: "beside a stranger: a spinning thread is off the core for"},
		{what: "  and then on it for"},
		{what: "  sched_yield after spinning for 0.05 ms"},
		{what: "  of these, those that lost the core"},
	}
	err = onCore(p.measured(), func() error {
		rows[0].samples, rows[1].samples = timeSlices(p.spin)
		rows[2].samples = yields(p.few, 50*time.Microsecond)
		for _, d := range rows[2].samples {
			if d > lost {
				rows[3].samples = append(rows[3].samples, d)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		what string
		busy time.Duration
	}{
		{"  wake-up by futex, a thread that sleeps nearly always", 0},
		{"  wake-up by futex, a thread that computes as long as it sleeps", p.sleep},
		{"  wake-up by futex, a thread that computes five times as long", 5 * p.sleep},
	} {
		woken, calls, err := p.wakeUps(p.sleep, x.busy)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{x.what, woken}, row{"  the call that wakes it", calls})
	}
	return rows, nil
}

// onCore calls f on a thread that is bound to a core.
func onCore(core int, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: a bound thread ends with its goroutine
		err := sys.BindThread([]int{core})
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// looks returns how long looks at the clock take, each sample the mean of 100.
func looks(n int) (samples []time.Duration) {
	const each = 100
	for range n / each {
		began := time.Now()
		last := began
		for range each {
			last = time.Now()
		}
		samples = append(samples, last.Sub(began)/each)
	}
	return samples
}

// most is for how long samples of one kind are taken. It matters on a machine with more load than the strangers.
const most = time.Second

// yields returns how long sched_yield takes, for a thread that spins for a time before each.
func yields(n int, before time.Duration) (samples []time.Duration) {
	for first := time.Now(); len(samples) < n && time.Since(first) < most; {
		spin(before)
		began := time.Now()
		sys.Yield()
		samples = append(samples, time.Since(began))
	}
	return samples
}

// spin computes until a time has passed, in which the core may have been lost.
func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

// lost is the shortest time without the core that counts as the time slice of somebody else.
const lost = 100 * time.Microsecond

// timeSlices spins for a time, and returns how long the thread was off its core each time, and how long on it in between.
func timeSlices(d time.Duration) (off, on []time.Duration) {
	first := time.Now()
	got, last := first, first
	for {
		now := time.Now()
		if now.Sub(last) > lost {
			off = append(off, now.Sub(last))
			if len(off) > 1 { // the first spell on the core is not a whole one
				on = append(on, last.Sub(got))
			}
			got = now
		}
		last = now
		if now.Sub(first) > d {
			return off, on
		}
	}
}
