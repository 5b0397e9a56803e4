package launch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
)

// An option of the command line. The table is also what the help is made of.
type option struct {
	names []string // without dashes; one dash or two may stand before
	args  []string // names of the arguments for the help
	help  string
	block bool // belongs to one block of the command line and not to the job
	set   func(p *parser, args []string) error
}

func options() []option {
	return []option{
		{names: []string{"n", "np"}, args: []string{"N"}, block: true,
			help: "start N ranks (default 1)",
			set: func(p *parser, a []string) (err error) {
				p.block.N, err = strconv.Atoi(a[0])
				if err != nil || p.block.N < 1 || p.block.N > boot.MaxRanks {
					return fmt.Errorf("the number of ranks is %q, want 1 to %d", a[0], boot.MaxRanks)
				}
				return nil
			}},
		{names: []string{"wdir", "wd"}, args: []string{"DIR"}, block: true,
			help: "run the program in DIR",
			set:  func(p *parser, a []string) error { p.block.Dir = a[0]; return nil }},
		{names: []string{"path"}, args: []string{"DIRS"}, block: true,
			help: "look for PROGRAM in DIRS, separated by ':', before PATH",
			set: func(p *parser, a []string) error {
				p.block.Path = append(p.block.Path, strings.Split(a[0], ":")...)
				return nil
			}},
		{names: []string{"env"}, args: []string{"NAME", "VALUE"}, block: true,
			help: "set an environment variable for the ranks",
			set: func(p *parser, a []string) error {
				if a[0] == "" || strings.Contains(a[0], "=") {
					return fmt.Errorf("%q is not the name of an environment variable", a[0])
				}
				p.block.Env = append(p.block.Env, a[0]+"="+a[1])
				return nil
			}},
		{names: []string{"x"}, args: []string{"NAME[=VALUE]"}, block: true,
			help: "the same; without a value the launcher's own is passed on, which happens anyway",
			set: func(p *parser, a []string) error {
				name, _, ok := strings.Cut(a[0], "=")
				if name == "" {
					return fmt.Errorf("%q does not begin with the name of an environment variable", a[0])
				}
				if ok {
					p.block.Env = append(p.block.Env, a[0])
				}
				return nil
			}},
		{names: []string{"file", "configfile"}, args: []string{"FILE"},
			help: "take the blocks from FILE, one a line, instead of the command line; '#' starts a comment, quotes keep words together",
			set:  func(p *parser, a []string) error { return p.file(a[0]) }},
		{names: []string{"fabric"}, args: []string{"NAME"},
			help: "what carries messages: shm (shared memory; the default on Linux) or tcp (loopback)",
			set:  oneOf(func(s *Spec) *string { return &s.Fabric }, "shm", "tcp")},
		{names: []string{"bind"}, args: []string{"HOW"},
			help: "core: rank i runs on the i-th core only; none: anywhere; auto (the default): each rank on its own equal share of the cores, or anywhere if there are more ranks than cores",
			set:  oneOf(func(s *Spec) *string { return &s.Bind }, "core", "none", "auto")},
		{names: []string{"timeout"}, args: []string{"TIME"},
			help: "end the job after TIME, such as 90s or 1h30m, with status 124",
			set: func(p *parser, a []string) (err error) {
				p.spec.Timeout, err = time.ParseDuration(a[0])
				if seconds, e := strconv.Atoi(a[0]); e == nil {
					p.spec.Timeout, err = time.Duration(seconds)*time.Second, nil
				}
				if err != nil || p.spec.Timeout <= 0 {
					return fmt.Errorf("%q is not a time such as 30s or 5m", a[0])
				}
				return nil
			}},
		{names: []string{"tag-output", "l"},
			help: "write [rank] before each line of output",
			set:  func(p *parser, _ []string) error { p.spec.Tag = true; return nil }},
		{names: []string{"v", "verbose"},
			help: "say what is started, where, and how it ends",
			set:  func(p *parser, _ []string) error { p.spec.Verbose = true; return nil }},
	}
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
