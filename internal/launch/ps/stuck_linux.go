package ps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// WatchEvery is how often a Watcher is to see the ranks.
	WatchEvery = deadlockLook
	// stuckAfter is how long ranks must have been asleep that wait for each other before a Watcher reports
	// them: a message that had been sent would have woken one of them.
	stuckAfter = 750 * time.Millisecond
)

// A Watcher finds ranks that wait for each other, in what they wait for again and again. What it reports it has found in
// two looks, between which none of these ranks has computed or has been awake. The zero Watcher has seen nothing.
type Watcher struct {
	stuck []string        // describes the ranks of each job that waited for each other
	told  map[string]bool // what has been reported, behind the job
	all   string          // describes all ranks if they were asleep
	slept bool            // it has been reported that they are; until one of them wakes
}

// See takes the states of all jobs of a launcher, each with all its ranks. It returns reports of ranks that wait for each
// other, each once, and the tables of all jobs once all ranks have been asleep for deadlockAfter.
func (w *Watcher) See(states []*JobState) (reports, tables []string) {
	before, stuck := w.stuck, make([]string, len(states))
	for i, s := range states {
		set := s.stuckRanks()
		stuck[i] = s.describe(set)
		if set == nil || i >= len(before) || before[i] != stuck[i] {
			continue
		}
		if text := s.tellStuck(set); !w.told[s.Job+text] { // a rank may use the processor meanwhile, and wait for the same again
			if w.told == nil {
				w.told = map[string]bool{}
			}
			w.told[s.Job+text] = true
			reports = append(reports, text)
		}
	}
	w.stuck = stuck
	return reports, w.seeAll(states)
}

// seeAll returns the tables of all jobs if all ranks are asleep.
func (w *Watcher) seeAll(states []*JobState) (tables []string) {
	before := w.all
	w.all = ""
	for _, s := range states {
		if s.asleep() < deadlockAfter {
			w.slept, w.all = false, ""
			return nil
		}
		w.all += s.describe(s.Ranks)
	}
	if w.slept || w.all != before {
		return nil
	}
	w.slept = true
	for _, s := range states {
		s.judge(s.cpu())
		var b strings.Builder
		s.Write(&b)
		tables = append(tables, strings.TrimSuffix(b.String(), "\n"))
	}
	return tables
}

// over reports whether the rank does nothing for the others any more.
func (r *RankState) over() bool { return r.State == Ended || r.stage == shmfmt.StageFinalized }

// stuckRanks returns the ranks that only others of them could wake, nil if there are none. s has all ranks of the job, in
// their order.
func (s *JobState) stuckRanks() []RankState {
	free := make([]bool, len(s.Ranks)) // the rank may go on
	for i := range s.Ranks {
		r := &s.Ranks[i]
		free[i] = r.State != Waiting || r.busy || r.stage == shmfmt.StageInit || r.Asleep > len(r.Waits) || s.Seen.Sub(r.changed) < stuckAfter
	}
	goesOn := func(i int) bool { return free[i] && !s.Ranks[i].over() }
	ends := func(w WaitState) bool {
		switch {
		case w.awaits >= 0 && w.awaits < len(free):
			return goesOn(w.awaits)
		case w.awaits == shmfmt.AwaitsAny:
			return slices.ContainsFunc(s.Ranks, func(r RankState) bool { return goesOn(r.Rank) })
		}
		return true
	}
	for again := true; again; {
		again = false
		for i := range s.Ranks {
			if !free[i] && slices.ContainsFunc(s.Ranks[i].Waits, ends) {
				free[i], again = true, true
			}
		}
	}
	var set []RankState
	calls := false // of the program, other than Finalize
	for i, r := range s.Ranks {
		if !free[i] && !r.over() {
			set = append(set, r)
			calls = calls || r.stage != shmfmt.StageFinalizing
		}
	}
	if !calls {
		return nil
	}
	return set
}

// describe returns a text that is the same as long as the ranks sleep in the same calls and compute nothing.
func (s *JobState) describe(ranks []RankState) string {
	var b strings.Builder
	for _, r := range ranks {
		fmt.Fprintf(&b, "%s %d %v ", s.Job, r.Rank, r.CPU)
		for _, w := range r.Waits {
			fmt.Fprintf(&b, "%q ", w.For)
		}
	}
	return b.String()
}

// tellStuck describes ranks that only others of them could wake: by a cycle in which each waits for the next if
// there is one, or by one that waits for a rank that has ended.
func (s *JobState) tellStuck(set []RankState) string {
	next := make(map[int]int) // of ranks that wait for one other rank
	for _, r := range set {
		if len(r.Waits) == 1 && r.Waits[0].awaits >= 0 {
			next[r.Rank] = r.Waits[0].awaits
		}
	}
	const looks = "this looks like a deadlock: "
	for _, r := range set {
		chain := []int{r.Rank}
		for at, ok := next[r.Rank]; ok && len(chain) <= len(set); at, ok = next[at] {
			if at == r.Rank {
				return looks + s.tellChain(chain, fmt.Sprint(" waits for rank ", at))
			}
			chain = append(chain, at)
		}
	}
	for _, r := range set {
		if at, ok := next[r.Rank]; ok && s.Ranks[at].over() {
			return looks + s.tellChain([]int{r.Rank}, fmt.Sprintf(" waits for rank %d, which has ended", at))
		}
	}
	var ranks []int
	for _, r := range set {
		ranks = append(ranks, r.Rank)
	}
	if len(ranks) == 1 {
		return looks + s.tellChain(ranks, " waits for a rank that sends nothing any more")
	}
	return looks + wording.Numbered("rank", ranks) + " wait for each other" + s.tellWaits(ranks)
}

// tellChain describes ranks each of which waits for the next.
func (s *JobState) tellChain(chain []int, end string) string {
	text := fmt.Sprintf("rank %d", chain[0])
	for _, rank := range chain[1:] {
		text += fmt.Sprintf(" waits for rank %d", rank)
	}
	return text + end + s.tellWaits(chain)
}

// tellWaits tells what each of the ranks waits for.
func (s *JobState) tellWaits(ranks []int) string {
	const most = 8
	text, separator := "", ": "
	for i, rank := range ranks {
		if i == most {
			return text + fmt.Sprintf("; and %d more", len(ranks)-most)
		}
		var waits []string
		for _, w := range s.Ranks[rank].Waits {
			waits = append(waits, w.For)
		}
		text += fmt.Sprintf("%srank %d in %s", separator, rank, strings.Join(waits, " and "))
		separator = "; "
	}
	return text
}
