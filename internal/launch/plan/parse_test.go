package plan

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/address"
)

func TestParse(t *testing.T) {
	t.Setenv(envReach, "")
	for _, c := range []struct {
		line string
		want Spec
	}{
		{"prog", Spec{Blocks: []Block{{N: 1, Program: "prog", Args: []string{}}}}},
		{"-n 4 prog -n 7", Spec{Blocks: []Block{{N: 4, Program: "prog", Args: []string{"-n", "7"}}}}},
		{"-np 2 --fabric=tcp -bind auto prog", Spec{Fabric: "tcp", Blocks: []Block{{N: 2, Program: "prog", Args: []string{}}}}},
		{"-bind core -timeout 90 -v -l prog", Spec{Bind: "core", Timeout: 90 * time.Second, Verbose: true, Tag: true,
			Blocks: []Block{{N: 1, Env: []string{"HALO_VERBOSE=1"}, Program: "prog", Args: []string{}}}}},
		{"-host a:2,b -n 3 p : -host c q", Spec{Blocks: []Block{
			{N: 3, Hosts: []HostSlots{{"a", 2}, {"b", 0}}, Program: "p", Args: []string{}},
			{N: 1, Hosts: []HostSlots{{"c", 0}}, Program: "q", Args: []string{}}}}},
		{"-map-by node -oversubscribe -ssh rsh -ssh-timeout 5 -halo /opt/halo -iface eth1 p", Spec{MapBy: "node",
			Oversubscribe: true, SSH: []string{"rsh"}, Reach: 5 * time.Second, Agent: "/opt/halo", Iface: "eth1",
			Blocks: []Block{{N: 1, Program: "p", Args: []string{}}}}},
		// Without -n a program fills the slots of its hosts that no other block uses.
		{"-host a:2,b:2 p", Spec{Blocks: []Block{{N: 4, Hosts: []HostSlots{{"a", 2}, {"b", 2}}, Program: "p", Args: []string{}}}}},
		{"-host a,b:3,a p", Spec{Blocks: []Block{{N: 5, Hosts: []HostSlots{{"a", 2}, {"b", 3}}, Program: "p", Args: []string{}}}}},
		{"-host a:2 -n 1 p", Spec{Blocks: []Block{{N: 1, Hosts: []HostSlots{{"a", 2}}, Program: "p", Args: []string{}}}}},
		{"-host a:2 p : -host b:3 q", Spec{Blocks: []Block{
			{N: 2, Hosts: []HostSlots{{"a", 2}}, Program: "p", Args: []string{}},
			{N: 3, Hosts: []HostSlots{{"b", 3}}, Program: "q", Args: []string{}}}}},
		{"-host a:2 p : q", Spec{Blocks: []Block{
			{N: 1, Hosts: []HostSlots{{"a", 2}}, Program: "p", Args: []string{}}, {N: 1, Program: "q", Args: []string{}}}}},
		{"-x NO_SUCH_VARIABLE p", Spec{Blocks: []Block{{N: 1, Program: "p", Args: []string{}}},
			Warnings: unset("NO_SUCH_VARIABLE")}},
		{"-grace 90s p", Spec{Grace: 90 * time.Second, Blocks: []Block{{N: 1, Program: "p", Args: []string{}}}}},
		{"-timeout 1h30m -- -prog", Spec{Timeout: 90 * time.Minute, Blocks: []Block{{N: 1, Program: "-prog", Args: []string{}}}}},
		{"-env A 1 -x B=2 -x HOME_OF_NOBODY -wdir /d -path /a:/b p x : -n 3 q", Spec{Warnings: unset("HOME_OF_NOBODY"), Blocks: []Block{
			{N: 1, Dir: "/d", Path: []string{"/a", "/b"}, Env: []string{"A=1", "B=2"}, Program: "p", Args: []string{"x"}},
			{N: 3, Program: "q", Args: []string{}}}}},
	} {
		got, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
		} else if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%q: got %+v, want %+v", c.line, *got, c.want)
		}
	}
}

// unset returns the warning about -x with a variable that is not set.
func unset(name string) []string {
	return []string{"-x " + name + ": the launcher has no variable of that name, so it passes none on"}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("-n 1 a\n-n x b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts, bad := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "hosts")
	for name, text := range map[string]string{hosts: "a\n", bad: "a\nb c\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"":                                  "no program given",
		"-n 3":                              "no program given after -n",
		"-n":                                "-n lacks its argument",
		"-env A":                            "-env NAME VALUE",
		"-n 0 p":                            "1 to 65536",
		"-n 1000000 p":                      "1 to 65536",
		"-n 65536 p : q":                    "65537 ranks in all",
		"-n 1 p :":                          "after the last ':'",
		": p":                               "no program given",
		"-fabric ib p":                      "not one of shm, tcp",
		"-bind socket p":                    "not one of core, none, auto",
		"-timeout soon p":                   "not a time",
		"-timeout -1s p":                    "not a time",
		"-grace 0 p":                        "not a time",
		"-env A=B 1 p":                      "not the name",
		"-x =1 p":                           "does not begin with the name",
		"-v=1 p":                            "takes 0 arguments",
		"-hostfile /nonexistent/h p":        "no such file",
		"-host a;b p":                       "not the name of a host",
		"-host a -hostfile " + hosts + " p": "exclude each other",
		"-hostfile " + bad + " p":           "hosts:2: ",
		"-ppn 0 p":                          "1 to 65536",
		"-map-by dist p":                    "not one of slot, node, ppr:K:node",
		"-map-by ppr:2 p":                   "not ppr:K:node",
		"-map-by ppr:x:node p":              "number of slots",
		"-bind-to gpu p":                    "not known; see -bind",
		"-arch vax p":                       "this host is",
		"-soft 3 p":                         "no number from 1 to 1",
		"-n 9 -soft 1:2:0 p":                "steps of 0",
		"-n 9 -soft 1:2:3:4 p":              "not FIRST:LAST:STEP",
		"-n 9 -soft 1,b p":                  "three numbers",
		"-initial-errhandler x p":           "not one of mpi_errors_are_fatal",
		"-genv A=B 1 p":                     "not the name",
		"-envlist A,=b p":                   "does not begin with the name",
		"-mca btl":                          "-mca NAME VALUE",
		"-halo bin/halo p":                  "not an absolute path",
		"-ssh-timeout 0 p":                  "not a time",
		"-ssh '' p":                         "no command",
		"-ssh \"a p":                        "no closing",
		"-frobnicate p":                     "unknown option -frobnicate",
		"-file /nonexistent/x":              "no such file",
		"-file " + file:                     ":2: -n: the number",
		"-n 2 -file " + os.Args[0] + "x":    "no such file",
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", line, err, want)
		}
	}
}

// X-LCH-01, section 11.5: the launcher accepts the options of other launchers. It ignores those that
// ask only for what it does anyway.
func TestXLCH01_OptionsOfPeers(t *testing.T) {
	t.Setenv(envReach, "")
	t.Setenv("LCH_A", "a")
	program := func(n int) Block { return Block{N: n, Program: "p", Args: []string{}} }
	with := func(b Block, env ...string) Block { b.Env = env; return b }
	on := func(b Block, h ...HostSlots) Block { b.Hosts = h; return b }
	for _, c := range []struct {
		line string
		want Spec
	}{
		{"-n 9 -soft 1,2:8:3,100,-4 p", Spec{Blocks: []Block{program(8)}}},
		{"-soft 9:1:-2 -n 6 p : -n 3 p", Spec{Blocks: []Block{program(5), program(3)}}},
		{"-n 4 -soft 4:9 p", Spec{Blocks: []Block{program(4)}}},
		{"-arch " + runtime.GOARCH + " p", Spec{Blocks: []Block{program(1)}}},
		{"-genv A 1 -n 2 -env B 2 p : -env A 3 p", Spec{Blocks: []Block{with(program(2), "A=1", "B=2"), with(program(1), "A=1", "A=3")}}},
		{"-envlist LCH_A,LCH_UNSET p", Spec{Warnings: unset("LCH_UNSET"), Blocks: []Block{with(program(1), "LCH_A=a")}}},
		{"-initial-errhandler mpi_errors_return p", Spec{Blocks: []Block{with(program(1), "HALO_INITIAL_ERRHANDLER=mpi_errors_return")}}},
		{"-ppn 3 -host a,b p : -n 1 p", Spec{Blocks: []Block{on(program(6), HostSlots{"a", 3}, HostSlots{"b", 3}), program(1)}}},
		{"--map-by ppr:2:node --host a:9,b -n 3 p", Spec{Blocks: []Block{on(program(3), HostSlots{"a", 2}, HostSlots{"b", 2})}}},
		{"-N 2 p", Spec{Blocks: []Block{program(2)}}},
		{"-pernode -n 2 p", Spec{Blocks: []Block{program(2)}}},
		{"--map-by socket:OVERSUBSCRIBE:PE=2 --bind-to core:overload-allowed p", Spec{MapBy: "slot", Oversubscribe: true, Bind: "core",
			Blocks: []Block{program(1)}}},
		{"-bynode --bind-to numa p", Spec{MapBy: "node", Blocks: []Block{program(1)}}},
		{"--bind-to none -byslot p", Spec{MapBy: "slot", Bind: "none", Blocks: []Block{program(1)}}},
		{"--allow-run-as-root --mca btl self,tcp -launcher ssh -n 2 p", Spec{Blocks: []Block{program(2)},
			Ignored: []string{"-allow-run-as-root", "-mca btl self,tcp", "-launcher ssh"}}},
	} {
		got, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
		} else if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%q: got %+v, want %+v", c.line, *got, c.want)
		}
	}
	for _, line := range []string{"-version", "--version", "-V", "-n 2 -version p"} {
		if _, err := Parse(strings.Fields(line)); err != ErrVersion {
			t.Errorf("%q: %v", line, err)
		}
	}
	for line := range strings.SplitSeq(Help("mpiexec"), "\n") {
		if len(line) > 80 {
			t.Errorf("-help has a line of %d bytes: %s", len(line), line)
		}
	}
}

// The variable limits the time of jobs, as with other launchers.
func TestTimeoutFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		variable, line string
		want           time.Duration
	}{
		{"10", "-n 2 p", 10 * time.Second},
		{"10", "-timeout 3 p", 3 * time.Second},
		{"", "p", 0},
		{"0", "p", 0},
		{"-1", "p", 0},
	} {
		t.Setenv(envTimeout, c.variable)
		got, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if got.Timeout != c.want {
			t.Errorf("%s=%s, %q: the job is ended after %v, want %v", envTimeout, c.variable, c.line, got.Timeout, c.want)
		}
	}
	t.Setenv(envTimeout, "soon")
	if _, err := Parse([]string{"p"}); err == nil || !strings.Contains(err.Error(), envTimeout) {
		t.Errorf("got %v for a time that is none", err)
	}
}

func TestFileStandsAlone(t *testing.T) {
	t.Setenv(envReach, "")
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("# none yet\n\n-n 2 a : -n 1 b 'c d' # e\nf#g \"#h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Parse([]string{"-fabric", "tcp", "-file", file})
	if err != nil {
		t.Fatal(err)
	}
	want := &Spec{Fabric: "tcp", Blocks: []Block{{N: 2, Program: "a", Args: []string{}},
		{N: 1, Program: "b", Args: []string{"c d"}}, {N: 1, Program: "f#g", Args: []string{"#h"}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, args := range [][]string{{"-file", file, "prog"}, {"-n", "2", "-file", file}, {"-file", file, "-n", "2"}} {
		if _, err := Parse(args); err == nil || !strings.Contains(err.Error(), "cannot be combined with -file") {
			t.Errorf("%q: got %v", args, err)
		}
	}
	if err := os.WriteFile(file, []byte("-file x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse([]string{"-file", file}); err == nil || !strings.Contains(err.Error(), "cannot name another") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(file, []byte("a 'b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse([]string{"-file", file}); err == nil || !strings.Contains(err.Error(), ":1: no closing '") {
		t.Errorf("got %v", err)
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`a 'b c' "d" # e`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitWords(line)
		if err != nil || strings.ContainsAny(line, `'"#`) {
			return
		}
		want := strings.FieldsFunc(strings.ToValidUTF8(line, "\ufffd"), func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if strings.Join(words, "\x00") != strings.Join(want, "\x00") && strings.ToValidUTF8(line, "") == line {
			t.Fatalf("%q gives %q, want %q", line, words, want)
		}
	})
}

// -check holds for all programs of the job; an -env of one program overrides it.
func TestCheckSetsTheVariableOfAllRanks(t *testing.T) {
	t.Setenv(envReach, "")
	got, err := Parse(strings.Fields("-n 2 -check a : -env B 1 b : -env HALO_CHECK 0 c"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"HALO_CHECK=1"}, {"B=1", "HALO_CHECK=1"}, {"HALO_CHECK=0"}} {
		env := RankEnviron(nil, got.Blocks[i].Env)
		slices.Sort(env)
		if !slices.Equal(env, want) {
			t.Errorf("program %d has %q, want %q", i, env, want)
		}
	}
}

func TestLaterVariablesWin(t *testing.T) {
	got := RankEnviron([]string{"A=1", "PMI_RANK=2", "B=3", "HALO_BOOT_FD=9"}, []string{"B=4", "C=5", "B=6"})
	if want := []string{"A=1", "C=5", "B=6"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlacement(t *testing.T) {
	cpus := []int{0, 2, 4, 6, 8}
	for _, c := range []struct {
		how   string
		ranks int
		want  [][]int
	}{
		{"", 1, [][]int{nil}},
		{"", 2, [][]int{{0, 2}, {4, 6, 8}}},
		{"", 5, [][]int{{0}, {2}, {4}, {6}, {8}}},
		{"", 6, make([][]int, 6)},
		{"none", 2, [][]int{nil, nil}},
		{"core", 1, [][]int{{0}}},
		{"core", 6, [][]int{{0}, {2}, {4}, {6}, {8}, {0}}},
	} {
		if got := Binding(c.how, c.ranks, cpus); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, %d ranks: got %v, want %v", c.how, c.ranks, got, c.want)
		}
	}
}

// Options of other launchers, and one that is misspelt.
func TestPeerOptionsAndMistakes(t *testing.T) {
	s, err := Parse(strings.Fields("-c 3 -host a,b -perhost 2 -genvlist HOME --no-oversubscribe -rr -prefix /opt/halo prog"))
	if err != nil || s.Blocks[0].N != 3 || s.MapBy != "node" || s.Agent != "/opt/halo/bin/halo" || len(s.Blocks[0].Env) != 1 || s.Blocks[0].Hosts[1].Slots != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for wrong, right := range map[string]string{"-tag-outptu": "-tag-output", "--hostfil": "-hostfile", "-timeuot": "-timeout", "-veborse": "-verbose"} {
		if _, err := Parse([]string{wrong, "x", "prog"}); err == nil || !strings.Contains(err.Error(), "did you mean "+right+"?") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := Parse([]string{"-gizmo", "prog"}); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("%v", err)
	}
	for _, args := range [][]string{{"-stdin", "3", "prog"}, {"-prefix", "halo", "prog"}} {
		if _, err := Parse(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// -ports and HALO_PORTS are a range for the hosts and for the ranks.
func TestPortsOfAJob(t *testing.T) {
	for _, c := range []struct{ variable, line, want string }{
		{"", "p", ""},
		{"6000-6001", "p", "6000-6001"},
		{"6000-6001", "-ports 7000:7100 p", "7000:7100"},
	} {
		t.Setenv(address.EnvPorts, c.variable)
		s, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		var env []string
		if c.want != "" {
			env = []string{"HALO_PORTS=" + c.want}
		}
		if s.Ports != c.want || !slices.Equal(s.Blocks[0].Env, env) {
			t.Errorf("%s=%s, %q: %q, variables %q", address.EnvPorts, c.variable, c.line, s.Ports, s.Blocks[0].Env)
		}
	}
	t.Setenv(address.EnvPorts, "9-8")
	if _, err := Parse([]string{"p"}); err == nil || !strings.Contains(err.Error(), `HALO_PORTS: "9-8" is no range of ports such as 50000-50100`) {
		t.Error(err)
	}
	if _, err := Parse([]string{"-ports", "x", "p"}); err == nil || !strings.Contains(err.Error(), `-ports: "x" is no range of ports`) {
		t.Error(err)
	}
}
