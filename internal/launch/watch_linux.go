package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watchEvery is how often the launcher looks whether all ranks sleep, with -watch or -check. Two looks that
// find the same processor times are far enough apart for deadlockLook.
const watchEvery = time.Second

// watcher is what the launcher has found when it looked last.
type watcher struct {
	timer *time.Timer
	cpu   [][]float64 // of the ranks, by job
	told  bool        // that they sleep; until one of them wakes
}

// watch looks whether all ranks of the family have slept in calls for deadlockAfter, and computed nothing
// since the last look. It then says so once, with the table and with the ranks that wait for each other in a
// cycle. A family with ranks on other hosts is not judged.
func (w *watcher) watch(j *job) {
	w.timer.Reset(watchEvery)
	if j.ends() {
		return
	}
	var states []*JobState
	var cpu [][]float64
	asleep := true
	for _, k := range j.jobs {
		if !k.begun || k.several() {
			return
		}
		h, views, err := k.agent.memory.Notes().Read()
		if err != nil {
			return
		}
		s := newJobState(h, views, time.Now())
		states, cpu = append(states, s), append(cpu, s.cpu())
		asleep = asleep && s.asleep() >= deadlockAfter
	}
	same := len(cpu) == len(w.cpu)
	for i := range cpu {
		same = same && slices.Equal(cpu[i], w.cpu[i])
	}
	w.cpu = cpu
	w.told = w.told && asleep
	if w.told || !asleep || !same {
		return
	}
	w.told = true
	j.said.Go(func() {
		for i, s := range states {
			s.judge(cpu[i])
			if cycle := s.cycle(); cycle != "" {
				s.Deadlock += "\n" + cycle
			}
			var b strings.Builder
			s.Write(&b)
			j.stderr.say(strings.TrimSuffix(b.String(), "\n"))
		}
	})
}

// startWatch begins to look, and returns what ends that.
func (j *job) startWatch() (stop func()) {
	w := new(watcher)
	w.timer = time.AfterFunc(watchEvery, func() { j.post(func() { w.watch(j) }) })
	return func() { w.timer.Stop() }
}

// awaited returns the one rank that a wait is for, if its communicator is the world, whose ranks are those
// of the job: 3 for "Recv on world from 3 tag 7".
func awaited(wait string) (rank int, ok bool) {
	words := strings.Fields(wait)
	if len(words) < 5 || words[1] != "on" || words[2] != "world" && words[2] != "MPI_COMM_WORLD" || words[3] != "from" && words[3] != "to" {
		return 0, false
	}
	rank, err := strconv.Atoi(strings.TrimRight(words[4], ",;:"))
	return rank, err == nil
}

// cycle describes ranks of which each waits for the next, and the last for the first, "" if there are none. A
// rank of which several goroutines wait may be in none.
func (s *JobState) cycle() string {
	next := make(map[int]int) // by rank
	what := make(map[int]string)
	for i := range s.Ranks {
		r := &s.Ranks[i]
		if r.Asleep != 1 || len(r.Waits) != 1 {
			continue
		}
		if peer, ok := awaited(r.Waits[0].For); ok {
			next[r.Rank] = peer
			what[r.Rank] = r.Waits[0].For
		}
	}
	for i := range s.Ranks {
		first := s.Ranks[i].Rank
		ring := []int{first}
		for at, ok := next[first]; ok && len(ring) <= len(s.Ranks); at, ok = next[at] {
			if at == first {
				return tellCycle(ring, what)
			}
			ring = append(ring, at)
		}
	}
	return ""
}

// tellCycle describes the ranks of a cycle: first their order, then what each of them waits for.
func tellCycle(ring []int, what map[int]string) string {
	text := fmt.Sprintf("rank %d", ring[0])
	for _, rank := range append(ring[1:len(ring):len(ring)], ring[0]) {
		text += fmt.Sprintf(" waits for rank %d", rank)
	}
	const most = 8
	for i, rank := range ring {
		if i == most {
			text += fmt.Sprintf("; and %d more", len(ring)-most)
			break
		}
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		text += fmt.Sprintf("%srank %d in %s", separator, rank, what[rank])
	}
	return text
}
