package pmix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// Keys of what a server says about a job.
const (
	keySize      = "pmix.job.size"  // processes in the job
	keyUniverse  = "pmix.univ.size" // processes for which there is room
	keySession   = "pmix.ssn.arr"   // an array about the session, which is an allocation
	keyMapping   = "pmix.anlmap"    // the nodes of the ranks as PMI-1 servers write them
	keyAppNum    = "pmix.appnum"    // which part of the command line a process belongs to
	keyNodes     = "pmix.node.arr"  // an array for each node
	keyNode      = "pmix.node.inf"  // the array of one node
	keyPeers     = "pmix.lpeers"    // ranks on a node, separated by commas
	keyBlob      = "pmix.pblob"     // a rank, and what is known of the process
	keyRank      = "pmix.rank"      // the rank in an array
	keyProc      = "pmix.pdata"     // an array about one process
	keyHost      = "pmix.hname"     // the name of a process's node
	keyCollect   = "pmix.collect"   // a fence makes values visible
	keyImmediate = "pmix.immediate" // a get does not wait for the value
	keyPsets     = "pmix.qry.psets" // names of the process sets
	keyMembers   = "pmix.qry.pmems" // processes of a process set
	keyPsetName  = "pmix.pset.nm"   // the name of a process set
)

// description is what the server says about the job of a process.
type description struct {
	size     int
	universe int // -1 unknown
	appnum   int // of this process; -1 unknown
	nodes    []int
}

// describe reads the answer to cmdJob: the name of the job, then keys and values to the end. What is
// behind a value of an unknown type is not read; it is an error if the size of the job is there.
func describe(message []byte, nspace string, rank int) (description, error) {
	d := description{size: -1, universe: -1, appnum: -1}
	if s := newReader(message).status(); s < 0 && len(message) <= 8 {
		return d, fmt.Errorf("the server answers with %v", s)
	}
	r := newReader(message)
	if name := r.string(); r.err == nil && name != nspace {
		return d, fmt.Errorf("the server describes the job %.60q, not %.60q", name, nspace)
	}
	var nodes, procs []kval
	var mapping string
	for r.more() {
		k := r.kval()
		if r.err != nil {
			break
		}
		switch k.key {
		case keySize:
			if n, ok := k.value.integer(engine.MaxRanks); ok && n > 0 {
				d.size = n
			}
		case keyUniverse:
			d.universe = universe(k.value)
		case keySession:
			if v, ok := find(k.value.infos, keyUniverse); ok {
				d.universe = universe(v)
			}
		case keyMapping:
			mapping = k.value.text
		case keyAppNum:
			d.appnum, _ = appnum(k.value)
		case keyNodes, keyNode, keyBlob, keyProc:
			if k.key == keyBlob || k.key == keyProc {
				procs = append(procs, k)
			} else {
				nodes = append(nodes, k)
			}
		}
	}
	if d.size < 0 {
		if r.err != nil {
			return d, fmt.Errorf("the description of the job has no %s: %w", keySize, r.err)
		}
		return d, fmt.Errorf("the description of the job has no %s of at most %d", keySize, engine.MaxRanks)
	}
	if rank >= d.size {
		return d, fmt.Errorf("rank %d in a job of %d processes", rank, d.size)
	}

	hosts := make([]string, d.size)
	for _, k := range procs {
		about(r, k, rank, hosts, &d)
	}
	var err error
	d.nodes, err = numberNodes(nodes, hosts)
	if err == nil && d.nodes == nil {
		d.nodes, err = engine.ParseMapping(mapping, d.size)
	}
	return d, err
}

// universe returns the value of keyUniverse, -1 if it is none.
func universe(v value) int {
	if n, ok := v.integer(1<<31 - 1); ok && n > 0 {
		return n
	}
	return -1
}

// appnum returns the value of keyAppNum, -1 if it is none.
func appnum(v value) (int, bool) {
	if n, ok := v.integer(1<<31 - 1); ok {
		return n, true
	}
	return -1, false
}

// about reads what is known of one process: its node, and, of this process, the number of its part of
// the command line. What it cannot read it leaves out.
func about(from *reader, k kval, rank int, hosts []string, d *description) {
	var of int
	var list []kval
	if k.key == keyBlob {
		r := &reader{left: k.value.bytes, compact: from.compact}
		r.one()
		n := r.u32()
		if r.err != nil || int64(n) >= int64(len(hosts)) {
			return
		}
		of = int(n)
		for r.more() {
			if k := r.kval(); r.err == nil {
				list = append(list, k)
			}
		}
	} else {
		list = k.value.infos
		v, _ := find(list, keyRank)
		n, ok := v.integer(int64(len(hosts) - 1))
		if !ok {
			return
		}
		of = n
	}
	// Slurm 22.05 says here of all processes that they run on the node number of this process
	// (pmix.nodeid), so that only the name counts.
	if v, ok := find(list, keyHost); ok {
		hosts[of] = v.text
	}
	if of == rank {
		if v, ok := find(list, keyAppNum); ok {
			d.appnum, _ = appnum(v)
		}
	}
}

// numberNodes returns the number of the node of each rank: from the arrays of the nodes, or else from
// what is known of the processes. It is nil if neither says it of all ranks. Nodes are numbered in the
// order of their first ranks.
func numberNodes(arrays []kval, hosts []string) ([]int, error) {
	var lists []string
	for _, k := range arrays {
		collectPeers(k.value, &lists)
	}
	// A node may have two arrays with the same ranks: that of Slurm for the node of this process has
	// another name in each.
	slices.Sort(lists)
	lists = slices.Compact(lists)
	if len(lists) > 0 {
		of := make([]string, len(hosts))
		for _, list := range lists {
			if list == "" {
				continue
			}
			for _, word := range strings.Split(list, ",") {
				rank, err := strconv.Atoi(word)
				if err != nil || rank < 0 || rank >= len(hosts) {
					return nil, fmt.Errorf("the ranks of a node are %.100q, in a job of %d", list, len(hosts))
				}
				if of[rank] != "" && of[rank] != list {
					return nil, fmt.Errorf("rank %d is on the nodes of the ranks %.100q and %.100q", rank, of[rank], list)
				}
				of[rank] = list
			}
		}
		if !slices.Contains(of, "") {
			hosts = of
		}
	}
	if slices.Contains(hosts, "") {
		return nil, nil
	}
	numbers := map[string]int{}
	nodes := make([]int, len(hosts))
	for rank, host := range hosts {
		n, ok := numbers[host]
		if !ok {
			n = len(numbers)
			numbers[host] = n
		}
		nodes[rank] = n
	}
	return nodes, nil
}

// collectPeers appends the ranks of each node of an array.
func collectPeers(v value, lists *[]string) {
	if peers, ok := find(v.infos, keyPeers); ok {
		*lists = append(*lists, peers.text)
	}
	for _, k := range v.infos {
		if k.key == keyNode || k.key == keyNodes {
			collectPeers(k.value, lists)
		}
	}
}
