package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot"
)

// ErrHelp is the error for a command line that asks for help, ErrVersion for the version.
var (
	ErrHelp    = errors.New("help wanted")
	ErrVersion = errors.New("version wanted")
)

// Parse reads the arguments of halo run, or mpiexec.
func Parse(args []string) (*Spec, error) {
	p := &parser{spec: &Spec{}, options: options()}
	if err := p.line(args); err != nil {
		return nil, err
	}
	if err := p.play(); err != nil {
		return nil, err
	}
	if err := p.allocate(); err != nil {
		return nil, err
	}
	p.spread()
	switch n := p.spec.Size(); {
	case n == 0:
		return nil, errors.New("no program given")
	case n > boot.MaxRanks:
		return nil, fmt.Errorf("%d ranks in all, the limit is %d", n, boot.MaxRanks)
	}
	if p.spec.Hosts != nil {
		for _, b := range p.spec.Blocks {
			if b.Hosts != nil {
				return nil, errors.New("-host and -hostfile exclude each other: use one of them")
			}
		}
	}
	for _, d := range []struct {
		variable string
		given    bool // by an option
		set      func(string) error
	}{
		{envSSH, p.spec.SSH != nil, p.ssh},
		{envAgents, p.spec.Agents != "", p.agents},
		{envReach, p.spec.Reach != 0, p.reach},
		{address.EnvPorts, p.spec.Ports != "", p.ports},
	} {
		if text := os.Getenv(d.variable); text != "" && !d.given {
			if err := d.set(text); err != nil {
				return nil, fmt.Errorf("%s: %w", d.variable, err)
			}
		}
	}
	if err := p.timeoutByEnv(); err != nil {
		return nil, err
	}
	if p.check || os.Getenv(envCheck) == "1" {
		p.spec.Watch = true
	}
	if p.check {
		p.general = append([]string{envCheck + "=1"}, p.general...)
	}
	if p.spec.Verbose {
		p.general = append([]string{envVerbose + "=1"}, p.general...)
	}
	if p.spec.Ports != "" {
		p.general = append([]string{address.EnvPorts + "=" + p.spec.Ports}, p.general...)
	}
	if len(p.general) > 0 {
		for i := range p.spec.Blocks {
			b := &p.spec.Blocks[i]
			b.Env = append(slices.Clone(p.general), b.Env...)
		}
	}
	if n := p.spec.Size(); n > 0 && p.spec.Reader >= n {
		return nil, fmt.Errorf("-stdin %d: the ranks are 0 to %d", p.spec.Reader, n-1)
	}
	if p.spec.Bind == "auto" {
		p.spec.Bind = ""
	}
	return p.spec, nil
}

// parser holds the block that is being read.
type parser struct {
	spec    *Spec
	options []option
	block   Block
	touched string // the last option of the block, for messages
	inFile  string // name of the file that is being read
	check   bool   // -check
	counted bool   // the block has -n
	soft    SoftSet
	perHost int      // -ppn, 0 if there is none
	open    []int    // the blocks without -n
	general []string // -genv and the like: variables of all blocks, NAME=value
}

// spread sets the number of ranks of blocks without -n. With -ppn hosts have that many slots, and
// each block fills its hosts. Otherwise a block fills the slots of hosts that no other block uses; a
// host without a number counts as one slot.
func (p *parser) spread() {
	if p.perHost == 0 {
		for _, i := range p.open {
			b := &p.spec.Blocks[i]
			hosts := b.Hosts
			if shared := i+1 < len(p.spec.Blocks) && p.spec.Blocks[i+1].Hosts == nil; shared {
				continue
			} else if hosts == nil && i == 0 {
				hosts = p.spec.Hosts
			}
			if hosts != nil {
				b.N = slotsOf(hosts)
			}
		}
		return
	}
	set := func(hosts []HostSlots) {
		for i := range hosts {
			hosts[i].Slots = p.perHost
		}
	}
	hosts := p.spec.Hosts
	set(hosts)
	for i := range p.spec.Blocks {
		b := &p.spec.Blocks[i]
		if b.Hosts != nil {
			hosts = b.Hosts
			set(hosts)
		}
		if slices.Contains(p.open, i) {
			b.N = p.perHost * max(1, len(hosts))
		}
	}
}

// slotsOf returns the sum of the slots of hosts; a host without a number counts as one slot.
func slotsOf(hosts []HostSlots) (n int) {
	for _, h := range hosts {
		n += max(1, h.Slots)
	}
	return n
}

// line reads blocks separated by ':' arguments.
func (p *parser) line(args []string) error {
	for {
		block := args
		var more bool
		for i, a := range args {
			if a == ":" {
				block, args, more = args[:i], args[i+1:], true
				break
			}
		}
		if err := p.one(block); err != nil {
			return err
		}
		if !more {
			return nil
		}
		if len(args) == 0 {
			return errors.New("no program after the last ':'")
		}
	}
}

// one reads one block.
func (p *parser) one(args []string) error {
	p.block, p.touched, p.counted, p.soft = Block{N: 1}, "", false, nil
	fromFile := len(p.spec.Blocks)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if name == "help" || name == "h" {
			return ErrHelp
		}
		if name == "version" || name == "V" {
			return ErrVersion
		}
		o, err := p.find(name)
		if err != nil {
			return err
		}
		var values []string
		if inline && len(o.args) == 1 {
			values = []string{value}
		} else if inline {
			return fmt.Errorf("-%s takes %d arguments, not one after '='", name, len(o.args))
		} else {
			if len(args) < len(o.args) {
				return fmt.Errorf("-%s lacks its argument: -%s %s", name, name, strings.Join(o.args, " "))
			}
			values, args = args[:len(o.args)], args[len(o.args):]
		}
		if o.block {
			p.touched = "-" + name
		}
		if err := o.set(p, values); err != nil {
			return fmt.Errorf("-%s: %w", name, err)
		}
	}
	if len(p.spec.Blocks) > fromFile && p.inFile == "" { // -file has added blocks
		switch {
		case p.touched != "":
			return fmt.Errorf("%s cannot be combined with -file: write it on the lines of the file", p.touched)
		case len(args) > 0:
			return fmt.Errorf("program %q cannot be combined with -file: write it into the file", args[0])
		}
		return nil
	}
	if len(args) == 0 {
		if p.touched != "" {
			return fmt.Errorf("no program given after %s", p.touched)
		}
		return errors.New("no program given")
	}
	p.block.Program, p.block.Args = args[0], args[1:]
	if p.soft != nil {
		n := p.block.N
		p.block.N = p.soft.Within(n)
		if p.block.N == 0 {
			return fmt.Errorf("-soft has no number from 1 to %d, which is -n", n)
		}
	}
	if !p.counted && p.soft == nil {
		p.open = append(p.open, len(p.spec.Blocks))
	}
	p.spec.Blocks = append(p.spec.Blocks, p.block)
	return nil
}

func (p *parser) find(name string) (*option, error) {
	for i := range p.options {
		for _, n := range p.options[i].names {
			if n == name {
				return &p.options[i], nil
			}
		}
	}
	return nil, fmt.Errorf("unknown option -%s%s; halo run -help lists all", name, p.similar(name))
}

// similar asks whether the user means the option whose name is the most similar one; "" if none is.
func (p *parser) similar(name string) string {
	best, least := "", 1+len(name)/4 // one letter in a short name, more in a long one
	for _, o := range p.options {
		for _, n := range o.names {
			if d := distance(name, n); d <= least && len(n) > 1 && (best == "" || d < least) {
				best, least = n, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean -" + best + "?"
}

// distance is the smallest number of letters to insert, remove or replace that makes a of b; two that are swapped
// count as one.
func distance(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range last {
		last[k] = k
	}
	for i := range len(a) {
		row[0] = i + 1
		for k := range len(b) {
			d := last[k]
			if a[i] != b[k] {
				d = 1 + min(d, last[k+1], row[k])
			}
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				d = min(d, before[k-1]+1)
			}
			row[k+1] = d
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}

// envCheck is the variable that -check sets for the ranks.
const envCheck = "HALO_CHECK"

// envVerbose makes ranks say what they have chosen, as -v does.
const envVerbose = "HALO_VERBOSE"

// envSSH is the variable with the default for -ssh.
const envSSH = "HALO_SSH"

// envAgents is the variable with the default for -agents.
const envAgents = "HALO_RUN_AGENTS"

// envReach is the variable with the default for -ssh-timeout.
const envReach = "HALO_SSH_TIMEOUT"

// agentNames are the commands that -agents chooses from; package reach knows how each is called.
func agentNames() []string { return []string{"ssh", "srun", "blaunch", "qrsh"} }

// agents chooses what starts agents on other hosts.
func (p *parser) agents(how string) error {
	if !slices.Contains(agentNames(), how) {
		return fmt.Errorf("%q is not one of %s", how, strings.Join(agentNames(), ", "))
	}
	p.spec.Agents = how
	return nil
}

// allocate takes the hosts that a variable of another launcher names, or those of the batch system's
// allocation, if the command line names none.
func (p *parser) allocate() (err error) {
	named := p.spec.Hosts != nil
	for _, b := range p.spec.Blocks {
		named = named || b.Hosts != nil
	}
	if len(p.spec.Blocks) == 0 {
		return nil
	}
	if found, err := p.peersEnviron(named); named || found || err != nil {
		return err
	}
	p.spec.Allocation, err = allocated(os.Getenv)
	if p.spec.Allocation != nil {
		p.spec.Hosts = p.spec.Allocation.Hosts
	}
	return err
}

// envTimeout is the variable with the default for -timeout. The launchers of MPICH and Open MPI
// read the same variable, so that scripts can set it for any of them.
const envTimeout = "MPIEXEC_TIMEOUT"

// timeoutByEnv limits the job by envTimeout if no option does. As with other launchers, a number
// of seconds that is zero or negative means no limit.
func (p *parser) timeoutByEnv() (err error) {
	text := os.Getenv(envTimeout)
	if text == "" || p.spec.Timeout != 0 {
		return nil
	}
	if seconds, e := strconv.Atoi(text); e == nil && seconds <= 0 {
		return nil
	}
	p.spec.Timeout, err = parseTime(text)
	if err != nil {
		return fmt.Errorf("%s: %w", envTimeout, err)
	}
	p.spec.TimeoutByEnv = true
	return nil
}

// reach sets how long all hosts may take to be ready.
func (p *parser) reach(text string) (err error) {
	p.spec.Reach, err = parseTime(text)
	return err
}

// ports sets the ports at which processes listen.
func (p *parser) ports(text string) error {
	p.spec.Ports = text
	_, err := address.ParsePorts(text)
	return err
}

// ssh splits a command into words; no shell reads it.
func (p *parser) ssh(command string) (err error) {
	p.spec.SSH, err = splitWords(command)
	if err == nil && (len(p.spec.SSH) == 0 || p.spec.SSH[0] == "") {
		err = errors.New("no command")
	}
	return err
}

// file reads blocks from the lines of a file.
func (p *parser) file(name string) error {
	if p.inFile != "" {
		return fmt.Errorf("a file cannot name another one, %s", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	outer := *p
	p.inFile = filepath.Base(name)
	before := len(p.spec.Blocks)
	for i, line := range strings.Split(string(text), "\n") {
		words, err := splitWords(line)
		if err == nil && len(words) > 0 {
			err = p.line(words)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if len(p.spec.Blocks) == before {
		return fmt.Errorf("%s holds no command line", name)
	}
	p.block, p.touched, p.inFile = outer.block, outer.touched, outer.inFile
	return nil
}
