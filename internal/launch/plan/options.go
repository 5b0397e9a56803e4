package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/halo-mpi/halo/internal/boot"
)

// An option of the command line. The help is made from the table of options, too.
type option struct {
	names []string // without dashes; the command line may use one dash or two
	args  []string // names of the arguments for the help
	help  string
	block bool // belongs to one block of the command line and not to the job
	idle  bool // another launcher's, without effect here
	set   func(p *parser, args []string) error
}

func options() []option {
	return append([]option{
		{names: []string{"n", "np", "c"}, args: []string{"N"}, block: true,
			help: "start N ranks (default 1, or with -host or -hostfile as many as those have slots)",
			set: func(p *parser, a []string) (err error) {
				p.block.N, err = strconv.Atoi(a[0])
				p.counted = true
				if err != nil || p.block.N < 1 || p.block.N > boot.MaxRanks {
					return fmt.Errorf("the number of ranks is %q, want 1 to %d", a[0], boot.MaxRanks)
				}
				return nil
			}},
		{names: []string{"host", "hosts", "H"}, args: []string{"LIST"}, block: true,
			help: "run on these hosts: NAME or NAME:SLOTS, separated by commas; holds for the programs behind it, too",
			set: func(p *parser, a []string) (err error) {
				p.block.Hosts, err = ParseHosts(a[0])
				return err
			}},
		{names: []string{"wdir", "wd"}, args: []string{"DIR"}, block: true,
			help: "run the program in DIR",
			set:  func(p *parser, a []string) error { p.block.Dir = a[0]; return nil }},
		{names: []string{"pset"}, args: []string{"NAME"}, block: true,
			help: "add the ranks of the program to the process set NAME, which sessions find",
			set: func(p *parser, a []string) error {
				if err := checkPset(a[0]); err != nil {
					return err
				}
				if !slices.Contains(p.block.Psets, a[0]) {
					p.block.Psets = append(p.block.Psets, a[0])
				}
				return nil
			}},
		{names: []string{"path"}, args: []string{"DIRS"}, block: true,
			help: "look for PROGRAM in DIRS, separated by ':', before PATH",
			set: func(p *parser, a []string) error {
				p.block.Path = append(p.block.Path, strings.Split(a[0], ":")...)
				return nil
			}},
		{names: []string{"env"}, args: []string{"NAME", "VALUE"}, block: true,
			help: "set an environment variable for the ranks",
			set: func(p *parser, a []string) error {
				v, err := variable(a[0], a[1])
				p.block.Env = append(p.block.Env, v)
				return err
			}},
		{names: []string{"x"}, args: []string{"NAME[=VALUE]"}, block: true,
			help: "the same; without a value the launcher's own is passed on, which on this host happens anyway",
			set:  func(p *parser, a []string) error { return p.pass(a[0]) }},
		{names: []string{"file", "configfile", "app"}, args: []string{"FILE"},
			help: "take the blocks from FILE, one a line, instead of the command line; '#' starts a comment, quotes keep words together",
			set:  func(p *parser, a []string) error { return p.file(a[0]) }},
		{names: []string{"hostfile", "machinefile", "f"}, args: []string{"FILE"},
			help: "run on the hosts that FILE lists, one a line: NAME, NAME slots=N or NAME:N",
			set: func(p *parser, a []string) (err error) {
				p.spec.Hosts, err = ParseHostFile(a[0])
				return err
			}},
		{names: []string{"rankfile", "rf"}, args: []string{"FILE"},
			help: "run each rank on the host that FILE says, in lines of the form rank N=HOST",
			set:  func(p *parser, a []string) error { return p.rankFile(a[0]) }},
		{names: []string{"map-by"}, args: []string{"HOW"},
			help: "slot: fill one host after the other (the default); node: give each host one rank in turn; ppr:K:node: -ppn K; parts of a host, such as core: as slot",
			set:  func(p *parser, a []string) error { return p.mapBy(a[0]) }},
		{names: []string{"oversubscribe"},
			help: "let hosts take more ranks than they have slots",
			set:  func(p *parser, _ []string) error { p.spec.Oversubscribe = true; return nil }},
		{names: []string{"ssh"}, args: []string{"COMMAND"},
			help: "what starts a program on another host, given its name and a command line; HALO_SSH does the same (default: ssh -T -x -o BatchMode=yes -o ConnectTimeout=10)",
			set:  func(p *parser, a []string) error { return p.ssh(a[0]) }},
		{names: []string{"agents"}, args: []string{"HOW"},
			help: "what starts agents on other hosts: ssh, or in a job of a batch system srun (Slurm), blaunch (LSF) or qrsh (Grid Engine); HALO_RUN_AGENTS does the same (default: that of the batch system if it is installed, else ssh)",
			set:  func(p *parser, a []string) error { return p.agents(a[0]) }},
		{names: []string{"play-hosts"}, args: []string{"K"},
			help: "pretend K hosts on this one, play0, play1, ..., for teaching and tests: each has an agent and memory of its own, and messages between them travel by TCP",
			set:  func(p *parser, a []string) error { return p.playHosts(a[0]) }},
		{names: []string{"ssh-timeout"}, args: []string{"TIME"},
			help: "how long to wait for all hosts to be ready; HALO_SSH_TIMEOUT does the same (default 30s)",
			set:  func(p *parser, a []string) error { return p.reach(a[0]) }},
		{names: []string{"ssh-limit"}, args: []string{"K"},
			help: "how many agents on other hosts are started at the same time (default 32)",
			set: func(p *parser, a []string) (err error) {
				p.spec.Dialling, err = strconv.Atoi(a[0])
				if err != nil || p.spec.Dialling < 1 {
					return fmt.Errorf("%q is not a number of agents", a[0])
				}
				return nil
			}},
		{names: []string{"await-hosts"},
			help: "try hosts again that have no address or do not accept connections yet, within -ssh-timeout (default 2m then); so it is in the launcher's pod of Kubernetes' MPI operator",
			set:  func(p *parser, _ []string) error { p.spec.Await = true; return nil }},
		{names: []string{"push"},
			help: "copy the programs to the other hosts, once to each, and remove them at the end; libraries that they need must be there",
			set:  func(p *parser, _ []string) error { p.spec.Push = true; return nil }},
		{names: []string{"halo"}, args: []string{"PATH"},
			help: "where halo is on the other hosts (default: where it is here)",
			set: func(p *parser, a []string) error {
				if !filepath.IsAbs(a[0]) {
					return fmt.Errorf("%q is not an absolute path", a[0])
				}
				p.spec.Agent = a[0]
				return nil
			}},
		{names: []string{"iface"}, args: []string{"NAME|NET"},
			help: "the interface, or network such as 10.1.0.0/16, on which ranks of different hosts talk (default: the one by which ssh reaches them)",
			set:  func(p *parser, a []string) error { p.spec.Iface = a[0]; return nil }},
		{names: []string{"ports"}, args: []string{"RANGE"},
			help: "the TCP ports at which ranks, agents and the launcher listen, such as 50000-50100, for firewalls; HALO_PORTS does the same (default: any)",
			set:  func(p *parser, a []string) error { return p.ports(a[0]) }},
		{names: []string{"fabric"}, args: []string{"NAME"},
			help: "what carries messages on a host: shm (shared memory; the default on Linux) or tcp; between hosts it is tcp",
			set:  oneOf(func(s *Spec) *string { return &s.Fabric }, "shm", "tcp")},
		{names: []string{"bind"}, args: []string{"HOW"},
			help: "core: rank i runs on the i-th core only; none: anywhere; auto (the default): each rank on its own equal share of the cores, or anywhere if there are more ranks than cores",
			set:  oneOf(func(s *Spec) *string { return &s.Bind }, "core", "none", "auto")},
		{names: []string{"timeout"}, args: []string{"TIME"},
			help: "end the job after TIME, such as 90s or 1h30m, with status 124; MPIEXEC_TIMEOUT=TIME does the same",
			set:  func(p *parser, a []string) (err error) { p.spec.Timeout, err = parseTime(a[0]); return err }},
		{names: []string{"grace"}, args: []string{"TIME"},
			help: "how long ranks have to end after SIGTERM before they are killed (default 10s)",
			set:  func(p *parser, a []string) (err error) { p.spec.Grace, err = parseTime(a[0]); return err }},
		{names: []string{"watch"},
			help: "print the table of halo ps, and which ranks wait for each other, once all ranks have slept in calls for 5 s: docs/hangs.md; -check does so, too",
			set:  func(p *parser, _ []string) error { p.spec.Watch = true; return nil }},
		{names: []string{"check"},
			help: "have the ranks compare what they send, receive and call with each other, and say where two disagree: docs/checking.md; HALO_CHECK=1 does the same",
			set:  func(p *parser, _ []string) error { p.check = true; return nil }},
		{names: []string{"output-filename"}, args: []string{"FILE"},
			help: "write the output of rank R, stdout and stderr, to FILE.R",
			set: func(p *parser, a []string) error {
				p.spec.OutFile = strings.ReplaceAll(a[0], "%", "%%") + ".%r"
				p.spec.ErrFile = p.spec.OutFile
				return nil
			}},
		{names: []string{"outfile-pattern"}, args: []string{"NAME"},
			help: "write stdout of each rank to the file NAME, in which %r is the rank and %h its host",
			set:  func(p *parser, a []string) error { p.spec.OutFile = a[0]; return nil }},
		{names: []string{"errfile-pattern"}, args: []string{"NAME"},
			help: "the same for stderr",
			set:  func(p *parser, a []string) error { p.spec.ErrFile = a[0]; return nil }},
		{names: []string{"timestamp-output"},
			help: "write the time of day before each line of output",
			set:  func(p *parser, _ []string) error { p.spec.Stamp = true; return nil }},
		{names: []string{"print-all-exitcodes"},
			help: "say at the end how each rank has ended",
			set:  func(p *parser, _ []string) error { p.spec.PrintExits = true; return nil }},
		{names: []string{"tag-output", "l", "prepend-rank"},
			help: "write [rank] before each line of output",
			set:  func(p *parser, _ []string) error { p.spec.Tag = true; return nil }},
		{names: []string{"v", "verbose", "report-bindings", "display-map"},
			help: "say what is started, where, and how it ends; what reordering a topology gains, and which way accesses of files take (HALO_VERBOSE=1 for the ranks)",
			set:  func(p *parser, _ []string) error { p.spec.Verbose = true; return nil }},
	}, peerOptions()...)
}

// checkPset returns an error unless a process set may have that name.
func checkPset(name string) error {
	switch scheme, _, _ := strings.Cut(name, "://"); {
	case name == "":
		return errors.New("a process set has no name")
	case len(name) > boot.MaxPset:
		return fmt.Errorf("the name of process set %.20q... has %d bytes, the limit is %d", name, len(name), boot.MaxPset)
	case strings.EqualFold(scheme, "mpi") || strings.EqualFold(scheme, "halo"):
		return fmt.Errorf("the name %q begins with %s://, which names the sets that Halo makes", name, scheme)
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fmt.Errorf("the name %q has characters that cannot be printed", name)
	}
	return nil
}

// variable returns the setting NAME=value for a rank's environment.
func variable(name, value string) (string, error) {
	if name == "" || strings.Contains(name, "=") {
		return "", fmt.Errorf("%q is not the name of an environment variable", name)
	}
	return name + "=" + value, nil
}

// pass adds a variable to the environment of the ranks of a block: NAME=VALUE, or NAME with the
// value that it has in the launcher.
func (p *parser) pass(text string) error {
	name, _, ok := strings.Cut(text, "=")
	if name == "" {
		return fmt.Errorf("%q does not begin with the name of an environment variable", text)
	}
	if ok {
		p.block.Env = append(p.block.Env, text)
	} else if value, set := os.LookupEnv(name); set {
		p.block.Env = append(p.block.Env, name+"="+value)
	} else {
		p.spec.Warnings = append(p.spec.Warnings, fmt.Sprintf("-x %s: the launcher has no variable of that name, so it passes none on", name))
	}
	return nil
}

// parseTime reads a time in seconds or with a unit.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.Atoi(text); e == nil {
		d, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time such as 30s or 5m", text)
	}
	return d, nil
}

func oneOf(field func(*Spec) *string, values ...string) func(*parser, []string) error {
	return func(p *parser, a []string) error {
		for _, v := range values {
			if a[0] == v {
				*field(p.spec) = v
				return nil
			}
		}
		return fmt.Errorf("%q is not one of %s", a[0], strings.Join(values, ", "))
	}
}
