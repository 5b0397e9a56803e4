package testrun

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	// idleShare is the reciprocal of the part of a tick that idle processes have cores, for timers and for what the
	// runtime does while samples are taken.
	idleShare = 100
	// starvedShare is the reciprocal of the part of a tick for which a thread waits for a core if it has work. On a
	// very busy machine a thread that only looks after a timer waits for a core, too, but shorter.
	starvedShare = 4
)

// sampler samples what this process and its descendants do.
type sampler struct {
	known map[int]bool      // this process and its descendants, which stay known when their parents end
	spent map[string]thread // by the folder of the thread
}

// thread is how long a thread has had a core, and how long it has waited for one.
type thread struct{ on, waited time.Duration }

func newSampler() *sampler {
	return &sampler{known: map[int]bool{os.Getpid(): true}, spent: map[string]thread{}}
}

// sample reports whether the processes have been idle since the call before, some tick ago.
func (s *sampler) sample(tick time.Duration) bool {
	runtime.LockOSThread() // what the samples cost does not count
	defer runtime.UnlockOSThread()
	self, _ := os.Readlink("/proc/thread-self")
	self = "/proc/" + self
	spent, busy, on := map[string]thread{}, false, time.Duration(0)
	for todo := s.processes(); len(todo) > 0; todo = todo[1:] {
		dir := "/proc/" + strconv.Itoa(todo[0]) + "/task/"
		ids, err := names(dir)
		if err != nil {
			delete(s.known, todo[0]) // it has ended
		}
		for _, id := range ids {
			name := dir + id
			for _, child := range numbers(name + "/children") {
				if pid := int(child); !s.known[pid] {
					s.known[pid] = true
					todo = append(todo, pid)
				}
			}
			times := numbers(name + "/schedstat") // nanoseconds on a core, nanoseconds waiting for one, turns
			if len(times) != 3 {
				continue
			}
			now, was := thread{time.Duration(times[0]), time.Duration(times[1])}, s.spent[name]
			spent[name] = now
			if name == self {
				continue
			}
			on += now.on - was.on
			busy = busy || now.waited-was.waited > tick/starvedShare || waitsForDisk(name)
		}
	}
	s.spent = spent
	return !busy && on < tick/idleShare
}

// processes returns the processes that are known.
func (s *sampler) processes() (list []int) {
	for pid := range s.known {
		list = append(list, pid)
	}
	return list
}

// names returns the entries of a folder of /proc.
func names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// numbers returns the numbers in a file of /proc.
func numbers(name string) (list []int64) {
	text, _ := os.ReadFile(name)
	for _, word := range bytes.Fields(text) {
		n, _ := strconv.ParseInt(string(word), 10, 64)
		list = append(list, n)
	}
	return list
}

// waitsForDisk reports whether a thread is in a sleep that no signal ends.
func waitsForDisk(name string) bool {
	text, _ := os.ReadFile(name + "/stat")
	return bytes.Contains(text, []byte(") D "))
}
