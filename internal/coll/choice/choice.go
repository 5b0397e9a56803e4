package choice

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/op"
)

// Choice determines how each kind of collective is carried out. It must be the same in all
// processes of the job.
type Choice struct {
	Rules [kind.Kinds][]Rule // by kind; the first rule that applies determines the algorithm
	Slot  slot.Form
	base  [kind.Kinds][]Rule // the table of Defaults, for cases in which no algorithm of Rules is usable
	// Forced tells, by kind, whether the user has chosen the algorithm: then the slot is not
	// used.
	Forced [kind.Kinds]bool
	// Kernel carries out the predefined operations. It may differ between processes.
	Kernel op.Kernel
}

// A Rule is one line of the table of algorithms. It applies if the collective is below all its
// limits.
type Rule struct {
	Algorithm Algorithm
	// Size limits the bytes of the buffer of a Bcast, of the contribution of a member to a
	// reduction, and of one block of the other kinds.
	Size int
	// Share limits the bytes of each member's share when the buffer is divided.
	Share int
	// Ranks limits the number of members.
	Ranks int
	// Node restricts the rule to communicators whose members share memory.
	Node bool
	// Nodes restricts the rule to communicators on several nodes of which one has several
	// members.
	Nodes bool
}

// Site holds the properties of a communicator on which the choice depends.
type Site struct {
	Ranks  int
	Near   bool // all members share memory
	Spread bool // the members are on several nodes, of which one has several members
	Runs   bool // the ranks of each node are consecutive
	Part   bool // it consists of some members of a communicator: see division in package coll
}

// none is a limit that is never reached.
const none = math.MaxInt

func (r Rule) applies(size int, on Site) bool {
	return size < r.Size && size/on.Ranks < r.Share && on.Ranks < r.Ranks && (on.Near || !r.Node) && (on.Spread || !r.Nodes)
}

// can reports whether a is usable: if ordered, it must keep the order of the ranks, and in a
// part of a communicator it must do without leaders.
func (on Site) can(a Algorithm, ordered bool) bool {
	if ordered && (!a.keepsOrder() || a.Leads() && !on.Runs) {
		return false
	}
	return !on.Part || !a.Leads()
}

// Defaults returns the table of algorithms. The limits were measured with ranks that are
// processes of one host, and hold for both fabrics. The limits of the algorithms with leaders
// were measured with 4 and 8 ranks on two hosts that share two cores. They bound the memory that
// leaders need for the blocks of other members, at lengths at which leaders are no longer
// faster.
func Defaults() Choice {
	const kib = 1 << 10
	always := func(a Algorithm) Rule { return Rule{a, none, none, none, false, false} }
	below := func(a Algorithm, size int) Rule { return Rule{a, size, none, none, false, false} }
	share := func(a Algorithm, size int) Rule { return Rule{a, none, size, none, false, false} }
	fewer := func(a Algorithm, ranks int) Rule { return Rule{a, none, none, ranks, false, false} }
	node := func(a Algorithm, ranks int) Rule { return Rule{a, none, none, ranks, true, false} }
	nodes := func(a Algorithm, size int) Rule { return Rule{a, size, none, none, false, true} }
	var rules [kind.Kinds][]Rule
	rules[kind.Barrier] = []Rule{nodes(BarrierLeaders, none), always(BarrierDissemination)}
	rules[kind.Bcast] = []Rule{nodes(BcastLeaders, none), below(BcastBinomial, 64*kib), node(BcastLinear, 17), below(BcastBinomial, 256*kib), fewer(BcastBinomial, 3), always(BcastChain)}
	rules[kind.Reduce] = []Rule{nodes(ReduceLeaders, none), below(ReduceBinomial, 16*kib), node(ReduceDirect, 17), below(ReduceBinomial, 64*kib), share(ReduceBinomial, 4*kib), always(ReduceRing)}
	rules[kind.Allreduce] = []Rule{nodes(AllreduceLeaders, none), below(AllreduceDoubling, 8*kib), {AllreduceDirect, 64 * kib, none, 17, true, false}, fewer(AllreduceRing, 3), node(AllreduceDirect, 17), below(AllreduceDoubling, 32*kib), share(AllreduceDoubling, 4*kib), always(AllreduceRing)}
	rules[kind.Gather] = []Rule{nodes(GatherLeaders, 64*kib), below(GatherBinomial, 4*kib), always(GatherLinear)}
	rules[kind.Gatherv] = []Rule{always(GathervLinear)}
	rules[kind.Scatter] = []Rule{nodes(ScatterLeaders, 64*kib), below(ScatterBinomial, 4*kib), always(ScatterLinear)}
	rules[kind.Scatterv] = []Rule{always(ScattervLinear)}
	rules[kind.Allgather] = []Rule{nodes(AllgatherLeaders, 256*kib), below(AllgatherBruck, 4*kib), fewer(AllgatherDirect, 17), always(AllgatherRing)}
	rules[kind.Allgatherv] = []Rule{fewer(AllgathervDirect, 17), always(AllgathervRing)}
	rules[kind.Alltoall] = []Rule{below(AlltoallBruck, 256), below(AlltoallDirect, 64*kib), fewer(AlltoallDirect, 17), always(AlltoallPairwise)}
	rules[kind.Alltoallv] = []Rule{fewer(AlltoallvDirect, 65), always(AlltoallvPairwise)}
	rules[kind.Alltoallw] = []Rule{fewer(AlltoallwDirect, 65), always(AlltoallwPairwise)}
	rules[kind.Scan] = []Rule{below(ScanDoubling, 64*kib), always(ScanChain)}
	rules[kind.Exscan] = []Rule{below(ExscanDoubling, 64*kib), always(ExscanChain)}
	rules[kind.ReduceScatter] = []Rule{below(ReduceScatterHalving, 32*kib), share(ReduceScatterHalving, 4*kib), always(ReduceScatterDirect)}
	rules[kind.ReduceScatterBlock] = []Rule{below(ReduceScatterBlockHalving, 32*kib), share(ReduceScatterBlockHalving, 4*kib), always(ReduceScatterBlockDirect)}
	for i, k := range []kind.Kind{kind.NeighborAllgather, kind.NeighborAllgatherv, kind.NeighborAlltoall, kind.NeighborAlltoallv, kind.NeighborAlltoallw} {
		rules[k] = []Rule{always(NeighborAllgatherDirect + Algorithm(i))}
	}
	// The rules are slices of one allocation, since each size class of objects takes memory of
	// its own.
	var c Choice
	all := slices.Concat(rules[:]...)
	for k := range rules {
		n := len(rules[k])
		c.Rules[k], all = all[:n:n], all[n:]
	}
	c.base = c.Rules
	c.Kernel = op.BestKernel()
	return c
}

// Force makes a the only algorithm of its kind.
func (c *Choice) Force(a Algorithm) {
	c.Rules[a.Kind()] = []Rule{{a, none, none, none, false, false}}
	c.Forced[a.Kind()] = true
}

// Algorithm returns the first usable algorithm in the table whose rule applies. The last rule of
// a kind always applies, but its algorithm may not keep the order of the ranks where that must
// be kept, or may need leaders where there are none. Then algorithm uses the table of Defaults,
// or else the first usable algorithm of the kind.
func (c *Choice) Algorithm(k kind.Kind, size int, on Site, ordered bool) Algorithm {
	for _, rules := range [2][]Rule{c.Rules[k], c.base[k]} {
		for _, r := range rules {
			if r.applies(size, on) && on.can(r.Algorithm, ordered) {
				return r.Algorithm
			}
		}
	}
	a := Auto + 1
	for a.Kind() != k || !on.can(a, ordered) {
		a++
	}
	return a
}

// Apart returns the algorithm for n members that are alone on their hosts, and for operands of any order.
// size is as for NewTracer.
func (c *Choice) Apart(k kind.Kind, n, size int) Algorithm {
	switch k {
	case kind.Barrier:
		size = 0
	case kind.ReduceScatterBlock:
		size *= n
	}
	return c.Algorithm(k, size, Site{Ranks: n, Runs: true}, false)
}

// UsesSlot reports whether short collectives of the kind may go through a slot.
func (c *Choice) UsesSlot(k kind.Kind) bool { return c.Slot != slot.None && !c.Forced[k] }

// String returns the rule as the user writes it: name:size<65536:ranks<9:node.
func (r Rule) String() string {
	s := r.Algorithm.Name()
	for _, l := range r.limits() {
		if *l.value != none {
			s += fmt.Sprintf(":%s<%d", l.name, *l.value)
		}
	}
	if r.Node {
		s += ":node"
	}
	if r.Nodes {
		s += ":nodes"
	}
	return s
}

type limit struct {
	name  string
	value *int
}

func (r *Rule) limits() []limit {
	return []limit{{"size", &r.Size}, {"share", &r.Share}, {"ranks", &r.Ranks}}
}

// rulesText returns the rules of a kind as the user writes them.
func rulesText(rules []Rule) string {
	var list []string
	for _, r := range rules {
		list = append(list, r.String())
	}
	return strings.Join(list, ",")
}

// parseRules parses the output of rulesText. The last rule must have no limits.
func parseRules(k kind.Kind, text string) ([]Rule, error) {
	var rules []Rule
	for item := range strings.SplitSeq(text, ",") {
		words := strings.Split(strings.TrimSpace(item), ":")
		r := Rule{Auto, none, none, none, false, false}
		var names []string
		for _, a := range Algorithms(k) {
			names = append(names, a.Name())
			if a.Name() == words[0] {
				r.Algorithm = a
			}
		}
		if r.Algorithm == Auto {
			return nil, fmt.Errorf("%q is none of the algorithms of %v: %s", words[0], k, strings.Join(names, ", "))
		}
		for _, w := range words[1:] {
			if w == "node" || w == "nodes" {
				r.Node, r.Nodes = r.Node || w == "node", r.Nodes || w == "nodes"
				continue
			}
			name, number, ok := strings.Cut(w, "<")
			v, err := strconv.Atoi(number)
			found := false
			for _, l := range r.limits() {
				if l.name == name {
					*l.value, found = v, true
				}
			}
			if !ok || err != nil || !found || v < 1 {
				return nil, fmt.Errorf("%q is not a limit such as size<65536, share<4096, ranks<9, node or nodes", w)
			}
		}
		rules = append(rules, r)
	}
	if last := rules[len(rules)-1]; last != (Rule{last.Algorithm, none, none, none, false, false}) {
		return nil, fmt.Errorf("the last algorithm, %v, must stand without limits", last)
	}
	return rules, nil
}
