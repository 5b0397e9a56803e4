package waitsim

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

var schedules = flag.Uint64("schedules", 200, "how many schedules of each scenario the tests draw")

const (
	// bound is the greatest ratio of the nominal cost of Halo's waits to the least of the same waits: 2, as in the problem of
	// ski rental, and what it costs to find out that the core is lost.
	bound = 2.25
	// lateBound is the greatest ratio of their cost, with the delays that the scheduler makes.
	lateBound = 10
)

// draw draws the schedules of a scenario.
func draw(x *Scenario, n uint64, each func(*Schedule)) {
	for seed := range n {
		each(x.Schedule(seed, 20*time.Millisecond, 80))
	}
}

// sums adds results.
type sums struct{ Result }

func (s *sums) add(r *Result) {
	s.Costs.add(&r.Costs)
	s.Steps += r.Steps
	s.Comm += r.Comm
	s.BestCost += r.BestCost
	s.BestNominal += r.BestNominal
}

func (r *Result) nominalRatio() float64 { return float64(r.Nominal()) / float64(r.BestNominal) }
func (r *Result) ratio() float64        { return float64(r.Cost()) / float64(r.BestCost) }

// judge returns the costs of a policy in a scenario, and the greatest nominal ratio of a wait. Waits of a rank in the time after a
// stranger has left its core do not count for that.
func judge(x *Scenario, y *proc.Policy, n uint64) (s *sums, worst float64) {
	s = &sums{}
	draw(x, n, func(d *Schedule) {
		s.add(Judge(Measured(), y, d, func(w *Wait) {
			for _, o := range d.Strangers {
				if o.Core == w.Rank && w.Ended > o.To && w.Began < o.To+proc.LostFor {
					return
				}
			}
			worst = max(worst, w.Ratio)
		}))
	})
	return s, worst
}

// No wait of Halo costs more nominally than bound times what it would have cost if the waiter had known when what it waits for
// will happen, except for LostFor after a stranger has gone: then it sleeps early on a core that is its own again. With the delays
// of the scheduler lateBound holds for all waits together.
func TestHaloStaysWithinItsBounds(t *testing.T) {
	y := Halo()
	for _, x := range Scenarios() {
		s, worst := judge(&x, &y.Policy, *schedules)
		t.Logf("%-36s nominal %.2f, worst wait %.2f; with delays %.2f", x.Name, s.nominalRatio(), worst, s.ratio())
		if worst > bound {
			t.Errorf("%s: a wait costs %.2f times as much as it has to", x.Name, worst)
		}
		if r := s.nominalRatio(); r > bound {
			t.Errorf("%s: all waits cost %.2f times as much as they have to", x.Name, r)
		}
		if r := s.ratio(); r > lateBound {
			t.Errorf("%s: with delays all waits cost %.2f times as much as they have to", x.Name, r)
		}
	}
}

// Each rejected policy exceeds one of the bounds in a scenario.
func TestRejectedPoliciesExceedABound(t *testing.T) {
	excess := map[string]struct {
		scenario string
		late     bool // lateBound is what it exceeds
	}{
		"poll for ever":               {"beside two strangers", false},
		"yield always":                {"beside two strangers", true},
		"yield 200 times, then sleep": {"beside two strangers", true},
		"yield 20 times, then sleep":  {"beside two strangers", true},
		"sleep at once":               {"alone", false},
		"poll 0.05 ms, then sleep":    {"alone", false},
		"poll 1 ms, then sleep":       {"beside two strangers, long waits", false},
		"Halo, with 0.2 for 0.05 ms":  {"beside two strangers, long waits", false},
	}
	for _, y := range Rejected() {
		e, ok := excess[y.Name]
		if !ok {
			t.Errorf("no scenario says why a waiter does not %s", y.Name)
		}
		for _, x := range Scenarios() {
			if x.Name != e.scenario {
				continue
			}
			s, _ := judge(&x, &y.Policy, *schedules/10)
			t.Logf("%-28s %-36s nominal %.2f, with delays %.2f", y.Name, x.Name, s.nominalRatio(), s.ratio())
			if r := s.nominalRatio(); !e.late && r <= bound {
				t.Errorf("%s, %s: the waits cost only %.2f times as much as they have to", y.Name, x.Name, r)
			}
			if r := s.ratio(); e.late && r <= lateBound {
				t.Errorf("%s, %s: with delays the waits cost only %.2f times as much as they have to", y.Name, x.Name, r)
			}
		}
	}
}

// A job that strangers join polls for 0.05 ms in a wait from the first wait on that has lost its core, and looks again once in
// 100 ms. That long after the strangers have gone it polls on, as before.
func TestWaitersChangeOverWhenStrangersComeAndGo(t *testing.T) {
	const join, lostFor = 50 * time.Millisecond, 100 * time.Millisecond
	x := Scenario{Name: "joined", Ranks: 2, Uneven: Wild}
	m, y := Measured(), Halo()
	for seed := range uint64(20) {
		leave := join + time.Duration(seed+2)*20*time.Millisecond
		s := x.Schedule(seed, 0, 20)
		s.stretch(200*time.Microsecond, 3500)
		s.Strangers = []Stranger{{0, join, leave}, {1, join, leave}}
		lost := make([]time.Duration, 2) // when each rank lost its core, 0: never
		losses := make([]int, 2)
		report := func(w *Wait, what string) {
			t.Errorf("seed %d: rank %d waits from %v to %v, polls for %v, sleeps: %v, has lost its core at %v: %s", seed, w.Rank, w.Began, w.Ended, w.Polled, w.Slept, lost[w.Rank], what)
		}
		Run(m, &y.Policy, s, func(w *Wait) {
			last := lost[w.Rank]
			short := last > 0 && w.Began < last+lostFor-2*time.Millisecond // and polls only before lostFor is over
			switch {
			case w.Lost && (w.Ended < join || w.Began > leave+2*m.Tick):
				report(w, "there is no stranger")
			case w.Lost && short:
				report(w, "it has lost it before")
			case short && w.Polled > 60*time.Microsecond:
				report(w, "it does not sleep soon enough")
			case w.Began > leave+2*m.Tick+lostFor && w.Slept && w.Polled < 900*time.Microsecond:
				report(w, "it sleeps too early")
			}
			if w.Lost {
				lost[w.Rank] = w.Ended
				losses[w.Rank]++
			}
		})
		for i := range lost {
			if losses[i] == 0 || losses[i] > int((leave-join)/lostFor)+1 {
				t.Errorf("seed %d: rank %d has lost its core %d times", seed, i, losses[i])
			}
		}
	}
}

// stretch makes a schedule have n steps, whose computations are those that it has, with another mean.
func (s *Schedule) stretch(mean time.Duration, n int) {
	for i, old := range s.Work {
		var sum time.Duration
		for _, d := range old {
			sum += d
		}
		s.Work[i] = make([]time.Duration, n)
		for k := range s.Work[i] {
			s.Work[i][k] = time.Duration(float64(old[(k*(i+1))%len(old)]) * float64(mean) * float64(len(old)) / float64(sum))
		}
	}
}

// What a waiter looks at ahead changes nothing.
func TestForksLeaveNoTrace(t *testing.T) {
	for _, x := range Scenarios() {
		for _, y := range append(Rejected()[:1], Halo()) {
			draw(&x, 5, func(s *Schedule) {
				a, b := Run(Measured(), &y.Policy, s, nil), Judge(Measured(), &y.Policy, s, nil)
				if a.Costs != b.Costs || a.Took != b.Took || a.Comm != b.Comm {
					t.Errorf("%s, %s: %+v without and %+v with judgements", x.Name, y.Name, a, b)
				}
			})
		}
	}
}

// The table of docs/waiting.md: go test -v -run Table ./internal/proc/waitsim -schedules 1000
func TestTable(t *testing.T) {
	columns := []string{"alone, wild", "beside one stranger", "beside two strangers", "beside two strangers, long waits"}
	n := max(1, *schedules/30)
	var out strings.Builder
	for _, y := range append([]Named{Halo()}, Rejected()...) {
		fmt.Fprintf(&out, "\n| %s |", y.Name)
		for _, x := range Scenarios() {
			for _, c := range columns {
				if c == x.Name {
					s, _ := judge(&x, &y.Policy, n)
					fmt.Fprintf(&out, " %s |", s.cell())
				}
			}
		}
	}
	for _, early := range []bool{false, true} {
		fmt.Fprintf(&out, "\n| clairvoyant, early %v |", early)
		for _, x := range Scenarios() {
			for _, c := range columns {
				if c == x.Name {
					s := &sums{}
					draw(&x, n, func(d *Schedule) { s.add(Clairvoyant(Measured(), d, early)) })
					fmt.Fprintf(&out, " %s |", s.cell())
				}
			}
		}
	}
	t.Log(out.String())
}

// cell has communication and processor time of a step in microseconds, and the ratios of costs.
func (s *sums) cell() string {
	us := func(d time.Duration) float64 { return float64(d) / 1e3 / float64(s.Steps) }
	text := fmt.Sprintf("%.0f, %.0f", us(s.Comm), us(s.Shared+s.Idle))
	if s.BestCost > 0 {
		text += fmt.Sprintf(", %.1f, %.1f", s.nominalRatio(), s.ratio())
	}
	return text
}
