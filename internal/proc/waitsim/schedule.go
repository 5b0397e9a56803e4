package waitsim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Scenario is a kind of schedules.
type Scenario struct {
	Name  string
	Ranks int
	// All says that each rank awaits a message from every other one, as in a sum. Otherwise it does from the next and the previous.
	All bool
	// Uneven says how the lengths of the computations differ.
	Uneven Uneven
	// Strangers are the cores on which strangers compute.
	Strangers []int
	// Passing says that the strangers come and go in the middle.
	Passing bool
}

// Uneven says how the lengths of computations differ.
type Uneven uint8

const (
	Even   Uneven = iota // by 2 %
	Varied               // by up to 20 %
	Skewed               // by 20 %, and rank 0 computes twice as long
	Wild                 // exponentially distributed
	Long                 // by 20 %, and rank 0 computes 40 times as long
)

// Scenarios returns all scenarios.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "alone", Ranks: 2, Uneven: Varied},
		{Name: "alone, skewed", Ranks: 2, Uneven: Skewed},
		{Name: "alone, wild", Ranks: 2, Uneven: Wild},
		{Name: "beside one stranger", Ranks: 2, Uneven: Varied, Strangers: []int{0}},
		{Name: "beside two strangers", Ranks: 2, Uneven: Varied, Strangers: []int{0, 1}},
		{Name: "beside two strangers, wild", Ranks: 2, Uneven: Wild, Strangers: []int{0, 1}},
		{Name: "beside two strangers, long waits", Ranks: 2, Uneven: Long, Strangers: []int{0, 1}},
		{Name: "alone, long waits", Ranks: 2, Uneven: Long},
		{Name: "a stranger comes and goes", Ranks: 2, Uneven: Varied, Strangers: []int{0}, Passing: true},
		{Name: "two strangers come and go", Ranks: 2, Uneven: Varied, Strangers: []int{0, 1}, Passing: true},
		{Name: "four ranks in a ring, two strangers", Ranks: 4, Uneven: Varied, Strangers: []int{0, 1}},
		{Name: "four ranks sum, one stranger", Ranks: 4, All: true, Uneven: Varied, Strangers: []int{3}},
	}
}

// Schedule draws a schedule, which a seed determines: computations have a mean of 5 to 500 us, and the schedule takes about
// length on cores that nobody else uses, but has 20 steps at least and limit at most.
func (x *Scenario) Schedule(seed uint64, length time.Duration, limit int) *Schedule {
	r := rand.New(rand.NewPCG(seed, uint64(len(x.Name))))
	mean := time.Duration(5e3 * math.Pow(100, r.Float64()))
	step := mean * x.Uneven.slowest()
	n := max(20, min(limit, int(length/step)))
	s := &Schedule{Work: make([][]time.Duration, x.Ranks), Peers: make([][]int, x.Ranks)}
	for i := range s.Work {
		s.Work[i] = make([]time.Duration, n)
		for k := range s.Work[i] {
			s.Work[i][k] = max(100, time.Duration(float64(mean)*x.Uneven.factor(i, r)))
		}
		s.Peers[i] = x.peers(i)
	}
	whole := float64(n) * float64(step)
	for _, c := range x.Strangers {
		from, to := time.Duration(r.Int64N(int64(8*time.Millisecond))), never/2
		if x.Passing {
			from = time.Duration((0.1 + 0.3*r.Float64()) * whole)
			to = from + time.Duration((0.2+0.6*r.Float64())*whole)
		}
		s.Strangers = append(s.Strangers, Stranger{c, from, to})
	}
	return s
}

// factor draws the length of a computation of a rank, in relation to the mean.
func (u Uneven) factor(rank int, r *rand.Rand) float64 {
	switch f := 1 + 0.2*(2*r.Float64()-1); {
	case u == Even:
		return 1 + (f-1)/10
	case u == Skewed && rank == 0:
		return 2 * f
	case u == Wild:
		return r.ExpFloat64()
	case u == Long && rank == 0:
		return 40 * f
	default:
		return f
	}
}

// slowest is the mean factor of the rank that computes for longest.
func (u Uneven) slowest() time.Duration {
	switch u {
	case Skewed:
		return 2
	case Long:
		return 40
	}
	return 1
}

// peers returns the ranks with which a rank exchanges messages.
func (x *Scenario) peers(i int) (list []int) {
	for o := range x.Ranks {
		d := (o - i + x.Ranks) % x.Ranks
		if o != i && (x.All || d == 1 || d == x.Ranks-1) {
			list = append(list, o)
		}
	}
	return list
}
