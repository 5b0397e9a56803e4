package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
)

const completionHelp = `Print what lets a shell complete the words of halo, mpiexec and mpirun.

Usage:
  halo completion SHELL

SHELL is bash, zsh or fish. make install puts the three where shells look below
its prefix. For this shell alone:
  bash   source <(halo completion bash)
  zsh    source <(halo completion zsh)
  fish   halo completion fish | source

The options are those that the help of each command lists.
`

// The options in a help text stand at the beginning of a line, all names of one before the first two spaces or the
// name of an argument.
var (
	helpLine   = regexp.MustCompile(`(?m)^  (-[A-Za-z][^ ,]*(?:, -[A-Za-z][^ ,]*)*)`)
	helpOption = regexp.MustCompile(`-[A-Za-z][\w-]*`)
)

// words are what can stand behind a command.
type words struct{ command, help, list string }

// completionWords returns the words of all commands. This program prints the help of each, which is made from the
// tables and flags that the command reads.
func completionWords() ([]words, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []words
	for _, c := range commands() {
		text, err := exec.Command(self, c.name, "-help").CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s %s -help: %w", self, c.name, err)
		}
		list := optionsOf(string(text))
		switch c.name {
		case "bench":
			for line := range strings.Lines(benchmark.Describe()) {
				if name := strings.Fields(line); len(name) > 0 && strings.HasPrefix(line, "  ") {
					list = append(list, name[0])
				}
			}
		case "info":
			list = append(list, "-grid", "-slots")
		case "completion":
			list = append(list, "bash", "zsh", "fish")
		}
		all = append(all, words{c.name, c.help, strings.Join(list, " ")})
	}
	return all, nil
}

// optionsOf returns the options that a help text lists.
func optionsOf(help string) (list []string) {
	for _, m := range helpLine.FindAllStringSubmatch(help, -1) {
		for _, option := range helpOption.FindAllString(m[1], -1) {
			if !slices.Contains(list, option) {
				list = append(list, option)
			}
		}
	}
	return list
}

func completionMain(args []string) int {
	if len(args) == 1 && strings.TrimLeft(args[0], "-") == "help" {
		fmt.Print(completionHelp)
		return 0
	}
	if len(args) != 1 || !slices.Contains([]string{"bash", "zsh", "fish"}, args[0]) {
		fmt.Fprintf(os.Stderr, "halo: completion takes one of bash, zsh and fish, got %q\n", args)
		return 2
	}
	all, err := completionWords()
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo:", err)
		return 1
	}
	fmt.Print(map[string]func([]words) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[args[0]](all))
	return 0
}

// commandNames returns the names of all commands.
func commandNames(all []words) string {
	var names []string
	for _, w := range all {
		names = append(names, w.command)
	}
	return strings.Join(names, " ")
}

// Behind the options come programs and files, which the shell completes by itself.
func bashCompletion(all []words) string {
	var b strings.Builder
	b.WriteString("# halo completion bash has printed this.\n_halo() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} list=\n" +
		"\tcase ${COMP_WORDS[0]##*/} in mpiexec* | mpirun*) verb=run ;;\n")
	fmt.Fprintf(&b, "\t*)\n\t\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\t\tCOMPREPLY=($(compgen -W '%s' -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\t\t;;\n\tesac\n\tcase $verb in\n", commandNames(all))
	for _, w := range all {
		fmt.Fprintf(&b, "\t%s) list='%s' ;;\n", w.command, w.list)
	}
	b.WriteString("\tesac\n\tCOMPREPLY=($(compgen -W \"$list\" -- \"$word\"))\n}\ncomplete -o bashdefault -o default -F _halo halo mpiexec mpirun\n")
	return b.String()
}

func zshCompletion(all []words) string {
	var b strings.Builder
	b.WriteString("#compdef halo mpiexec mpirun\n# halo completion zsh has printed this.\n_halo() {\n\tlocal verb=${words[2]} list=\n" +
		"\tcase ${words[1]:t} in\n\tmpiexec* | mpirun*) verb=run ;;\n")
	fmt.Fprintf(&b, "\t*)\n\t\tif (( CURRENT == 2 )); then\n\t\t\tcompadd -- %s\n\t\t\treturn\n\t\tfi\n\t\t;;\n\tesac\n\tcase $verb in\n", commandNames(all))
	for _, w := range all {
		fmt.Fprintf(&b, "\t%s) list='%s' ;;\n", w.command, w.list)
	}
	b.WriteString("\tesac\n\tcompadd -- ${=list}\n\t_files\n}\nif [ \"$funcstack[1]\" = _halo ]; then _halo \"$@\"; else compdef _halo halo mpiexec mpirun; fi\n")
	return b.String()
}

func fishCompletion(all []words) string {
	var b strings.Builder
	b.WriteString("# halo completion fish has printed this.\n")
	for _, w := range all {
		fmt.Fprintf(&b, "complete -c halo -n __fish_use_subcommand -f -a %s -d '%s'\n", w.command, strings.ReplaceAll(w.help, "'", `\'`))
		fmt.Fprintf(&b, "complete -c halo -n '__fish_seen_subcommand_from %s' -a '%s'\n", w.command, w.list)
		if w.command == "run" {
			fmt.Fprintf(&b, "complete -c mpiexec -a '%[1]s'\ncomplete -c mpirun -a '%[1]s'\n", w.list)
		}
	}
	return b.String()
}
