package main

import (
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

// measureHere measures what the hardware and the kernel allow at the moment, in this process. Limits that
// cannot be measured are missing.
func measureHere(names []string) map[string]float64 {
	known := map[string]func() float64{
		line64:                   func() float64 { return perOp(cacheLine) / 2 },
		"copy 64 KiB":            func() float64 { return perOp(copying(64 << 10)) },
		"copy 1 MiB":             func() float64 { return (1 << 20) / perOp(copying(1<<20)) },
		"copy 4 MiB":             func() float64 { return perOp(copying(4 << 20)) },
		"sockets 8 B":            func() float64 { return perOp(socketPing) / 2 },
		"sockets 1 MiB":          func() float64 { return (1 << 20) / perOp(socketStream) },
		"sockets there and back": func() float64 { return perOp(socketPing) },
		"copy 8 B, fence":        func() float64 { return perOp(copyAndFence(8)) },
		"atomic add":             func() float64 { return perOp(atomicAdd) },
		"process_vm_writev 8 B":  func() float64 { return perOp(writeProcess(8)) },
		"map lookup":             func() float64 { return perOp(mapLookup()) },
		// A copy moves every byte twice, a reduction in place of one operand three times.
		"memory 64 MiB": func() float64 { return 1.5 * perOp(copying(64<<20)) },
		"barrier 2":     func() float64 { return perOp(counterBarrier(2)) },
		"barrier 4":     func() float64 { return perOp(counterBarrier(4)) },
		"barrier 8":     func() float64 { return perOp(counterBarrier(8)) },
		"exec 4":        func() float64 { return perOp(execute(4)) / 1e3 },
	}
	limits := map[string]float64{}
	for _, name := range names {
		if f := known[name]; f != nil {
			if v := f(); !math.IsNaN(v) {
				limits[name] = v
			}
		}
	}
	return limits
}

// A loop does n operations and returns the time, or an error.
type loop func(n int) (time.Duration, error)

// perOp is us per operation, measured as the benchmarks are: calibrated to
// 10 ms, the median of 5.
func perOp(f loop) float64 {
	const goal = 10 * time.Millisecond
	n := 1
	for {
		t, err := f(n)
		if err != nil {
			return math.NaN()
		}
		if t >= goal/4 || n > 1<<28 {
			n = max(1, int(float64(n)*float64(goal)/float64(t)))
			break
		}
		n *= 4
	}
	var us []float64
	for range 5 {
		t, err := f(n)
		if err != nil {
			return math.NaN()
		}
		us = append(us, float64(t)/1e3/float64(n))
	}
	return median(us)
}

// parallel runs body on k threads, each on a core of its own if there are
// enough, starts them together and returns the first one's time.
func parallel(k int, body func(me int)) (time.Duration, error) {
	old := runtime.GOMAXPROCS(max(k, runtime.NumCPU()))
	defer runtime.GOMAXPROCS(old)
	var took time.Duration
	var ready atomic.Int32 // each thread adds itself, all wait for the last
	var wg sync.WaitGroup
	errs := make([]error, k)
	for me := range k {
		wg.Go(func() {
			runtime.LockOSThread() // never unlocked: a pinned thread must end with its goroutine
			if k <= runtime.NumCPU() {
				errs[me] = pin(me)
			}
			ready.Add(1)
			for ready.Load() < int32(k) {
				sys.Yield()
			}
			start := time.Now()
			body(me)
			if me == 0 {
				took = time.Since(start)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}

// pin binds this thread to the n-th of the cores it may use.
func pin(n int) error {
	var set, one [128]uint64 // 8192 cores, as many as the kernel knows
	size := unsafe.Sizeof(set)
	if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, uintptr(unsafe.Pointer(&set))); e != 0 {
		return e
	}
	for cpu := range len(set) * 64 {
		if set[cpu/64]>>(cpu%64)&1 == 0 {
			continue
		}
		if n == 0 {
			one[cpu/64] = 1 << (cpu % 64)
			break
		}
		n--
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&one))); e != 0 {
		return e
	}
	return nil
}

// cacheLine sends one cache line to another core and back.
func cacheLine(n int) (time.Duration, error) {
	var word struct {
		_ [64]byte
		v atomic.Uint64 // odd: the second thread's turn; each waits for the other's store
		_ [64]byte
	}
	return parallel(2, func(me int) {
		for i := range uint64(n) {
			if me == 0 {
				word.v.Store(2*i + 1)
				for word.v.Load() != 2*i+2 {
				}
			} else {
				for word.v.Load() != 2*i+1 {
				}
				word.v.Store(2*i + 2)
			}
		}
	})
}

func copying(size int) loop {
	from, to := make([]byte, size), make([]byte, size)
	for i := range from {
		from[i] = 1 // or else all of it is the kernel's one page of zeros
	}
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			copy(to, from)
		}
		return time.Since(start), nil
	}
}

// copyAndFence copies and then exchanges a word, which orders everything.
func copyAndFence(size int) loop {
	from, to := make([]byte, size), make([]byte, size)
	var word atomic.Uint64 // nobody else's: it is the fence
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			copy(to, from)
			word.Swap(1)
		}
		return time.Since(start), nil
	}
}

func atomicAdd(n int) (time.Duration, error) {
	var word atomic.Int64 // nobody else's
	start := time.Now()
	for range n {
		word.Add(1)
	}
	return time.Since(start), nil
}

// writeProcess writes into a process's memory, its own, by the call that reaches others'.
func writeProcess(size int) loop {
	number := map[string]uintptr{"amd64": 311, "arm64": 271}[runtime.GOARCH]
	from, to := make([]byte, size), make([]byte, size)
	local := syscall.Iovec{Base: unsafe.SliceData(from)}
	remote := syscall.Iovec{Base: unsafe.SliceData(to)}
	local.SetLen(size)
	remote.SetLen(size)
	pid := uintptr(syscall.Getpid())
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if w, _, e := syscall.RawSyscall6(number, pid, uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0); int(w) != size {
				return 0, fmt.Errorf("process_vm_writev: %d bytes of %d: %v", int(w), size, e)
			}
		}
		return time.Since(start), nil
	}
}

// mapLookup finds one of 50,000 messages by communicator, source and tag.
func mapLookup() loop {
	type envelope struct {
		ctx         uint64
		source, tag int32
	}
	const depth = 50000
	queue := map[envelope]int{}
	for i := range depth {
		queue[envelope{1, 1, int32(i)}] = i
	}
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for i := range n {
			tag := int32(depth - 1 - i%depth)
			if queue[envelope{1, 1, tag}] != int(tag) {
				return 0, fmt.Errorf("lost tag %d", tag)
			}
		}
		return time.Since(start), nil
	}
}

// counterBarrier synchronises k threads: the last to arrive starts the next
// generation, the others poll for it a few times and then yield.
func counterBarrier(k int) loop {
	return func(n int) (time.Duration, error) {
		var b struct {
			_          [64]byte
			arrived    atomic.Int32 // reset by the last, before it opens the generation
			_          [64]byte
			generation atomic.Int32 // stored by the last, awaited by the others
			_          [64]byte
		}
		return parallel(k, func(int) {
			for i := range int32(n) {
				if b.arrived.Add(1) == int32(k) {
					b.arrived.Store(0)
					b.generation.Store(i + 1)
					continue
				}
				for spins := 0; b.generation.Load() <= i; spins++ {
					if k > runtime.NumCPU() && spins > 20 {
						sys.Yield()
					}
				}
			}
		})
	}
}

// execute starts k processes that do nothing and waits for all of them.
func execute(k int) loop {
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			var started []*exec.Cmd
			var err error
			for range k {
				c := exec.Command("/bin/true")
				err = c.Start()
				if err != nil {
					break
				}
				started = append(started, c)
			}
			for _, c := range started {
				if e := c.Wait(); err == nil {
					err = e
				}
			}
			if err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
}
