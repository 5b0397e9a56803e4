package plan

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// A Spec is a job as the command line describes it.
type Spec struct {
	Blocks []Block
	Fabric string      // "shm", "tcp", or "" for the best this platform has
	Hosts  []HostSlots // of the blocks that name none; nil: this one
	MapBy  string      // "node", or "slot" or "" to fill one host after the other
	// Oversubscribe lets hosts take more ranks than they have slots.
	Oversubscribe bool
	Allocation    *Allocation   // of a batch system, whose hosts Hosts are; nil: none, or hosts are named
	Agents        string        // what starts agents on other hosts, one of agentNames; "": the best
	SSH           []string      // the command that starts something on another host, and its options; nil: ssh
	SSHArgs       []string      // more options of ssh, before the default ones
	Dialling      int           // how many agents are started at the same time; 0: the default of the launcher
	Await         bool          // hosts that do not exist or do not answer yet are tried again until Reach
	Reach         time.Duration // for all hosts to be ready; 0: the default of the launcher
	Push          bool          // copy the programs to the other hosts
	Agent         string        // path of this program on other hosts; "": the same as here
	ByRank        bool          // Hosts are those of the ranks, in their order
	Play          int           // number of hosts that are pretended on this one
	Ports         string        // range of TCP ports at which ranks, agents and the launcher listen, "" for any
	Iface         string        // interface, or network as address/bits, on which hosts reach each other
	Bind          string        // "core", "none", or "" to share out the cores if they suffice
	Timeout       time.Duration // 0 is none
	TimeoutByEnv  bool          // Timeout is the value of MPIEXEC_TIMEOUT, not of -timeout
	Grace         time.Duration // between SIGTERM and SIGKILL; 0: the default of the launcher
	Tag           bool          // "[rank] " before each line of output
	OutFile       string        // pattern of files for stdout of each rank: %r is the rank, %h its host; "": the launcher's
	ErrFile       string        // the same for stderr
	Stamp         bool          // the time before each line of output
	PrintExits    bool          // say at the end how each rank has ended
	Verbose       bool
	Watch         bool     // say by itself that all ranks sleep
	Reader        int      // the rank that reads the standard input
	NoStdin       bool     // no rank does
	Ignored       []string // options of other launchers that have no effect here
	Warnings      []string // requests of the command line that cannot be met

	Stdin, Stdout, Stderr *os.File // nil: those of this process
	// StdoutClosed and StderrClosed say that this process was started without them: output
	// to them is lost.
	StdoutClosed, StderrClosed bool
}

// A Block is one program of a job, and how many ranks run it.
type Block struct {
	N       int
	Hosts   []HostSlots // where it runs; nil: as the block before
	Dir     string      // working directory; "" is the launcher's
	Path    []string    // directories to search for Program before PATH
	Env     []string    // NAME=value
	Psets   []string    // names of process sets that its ranks belong to
	Program string
	Args    []string
}

// Size is the number of ranks.
func (s *Spec) Size() (n int) {
	for _, b := range s.Blocks {
		n += b.N
	}
	return n
}

// Limit is the time limit of the job as its user has set it, for messages.
func (s *Spec) Limit() string {
	if s.TimeoutByEnv {
		return fmt.Sprintf("%s=%v", envTimeout, s.Timeout)
	}
	return fmt.Sprintf("-timeout %v", s.Timeout)
}

// Room returns all hosts of the command line, each with the largest number of slots that it has in one
// list.
func (s *Spec) Room() (all []HostSlots) {
	lists := [][]HostSlots{MergeHosts(s.Hosts)}
	for _, b := range s.Blocks {
		lists = append(lists, b.Hosts)
	}
	for i, list := range lists {
		if i == 0 && len(s.Blocks) > 0 && !slices.ContainsFunc(s.Blocks, func(b Block) bool { return b.Hosts == nil }) {
			continue // every block names its own
		}
		for _, h := range list {
			at := slices.IndexFunc(all, func(k HostSlots) bool { return k.Host == h.Host })
			if at < 0 {
				all = append(all, h)
			} else {
				all[at].Slots = max(all[at].Slots, h.Slots)
			}
		}
	}
	return all
}
