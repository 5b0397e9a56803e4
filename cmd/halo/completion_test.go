package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/testrun"
)

// The completions have every option of every command, and what bash is told completes words.
func TestCompletions(t *testing.T) {
	program := testrun.Halo(t, t.TempDir())
	print := func(shell string) string {
		out, err := exec.Command(program, "completion", shell).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", shell, err, out)
		}
		return string(out)
	}
	texts := map[string]string{}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		texts[shell] = print(shell)
	}
	// Independent of how the completions are made: every word of a help text that begins with a dash at the
	// beginning of a line.
	option := regexp.MustCompile(`(?m)^  (-[A-Za-z][\w-]*)`)
	for _, c := range commands() {
		help, err := exec.Command(program, c.name, "-help").CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range option.FindAllStringSubmatch(string(help), -1) {
			for shell, text := range texts {
				if !slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n'", r) }), m[1]) {
					t.Errorf("%s: %s has no %s", shell, c.name, m[1])
				}
			}
		}
	}
	if got := optionsOf(plan.Help("halo run")); !slices.Contains(got, "-np") || !slices.Contains(got, "-hostfile") || slices.Contains(got, "-x-") {
		t.Errorf("the options of halo run are %q", got)
	}
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("there is no %s here", shell)
			continue
		}
		cmd := exec.Command(shell, check...)
		cmd.Stdin = strings.NewReader(texts[shell])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash here")
	}
	for line, want := range map[string]string{
		"halo pa": "", "halo ru": "run", "halo be": "bench", "halo run -hostf": "-hostfile", "mpiexec -hostf": "-hostfile",
		"/opt/bin/mpirun -oversub": "-oversubscribe", "halo bench lat": "latency", "halo bench -js": "-json", "halo completion f": "fish",
	} {
		words := strings.Fields(line)
		script := texts["bash"] + fmt.Sprintf("COMP_WORDS=(%s) COMP_CWORD=%d; _halo; echo \"${COMPREPLY[@]}\"", line, len(words)-1)
		out, err := exec.Command("bash", "-c", script).CombinedOutput()
		if err != nil || !strings.HasPrefix(strings.TrimSpace(string(out)), want) || want == "" && strings.TrimSpace(string(out)) != "" {
			t.Errorf("%s completes to %q, %v, want %q", line, out, err, want)
		}
	}
	if out, err := exec.Command(program, "completion", "csh").CombinedOutput(); err == nil || !strings.Contains(string(out), "one of bash, zsh and fish") {
		t.Errorf("csh: %v, %s", err, out)
	}
}
