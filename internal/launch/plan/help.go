package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Help is the text of halo run -help, for a program called name.
func Help(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Start a program as the ranks of an MPI job, on this host or several.

Usage:
  %[1]s [-n N] [OPTIONS] PROGRAM [ARGS...]
  %[1]s [-n N] PROGRAM [ARGS...] : [-n M] PROGRAM [ARGS...] ...

PROGRAM is a file to execute, looked up as given, then in -path, then in PATH;
or a Go package (a directory such as ./examples/heat, an import path, or a .go
file), which is built first, as go run does.

Options for each PROGRAM:
`, name)
	table := options()
	writeOptions(&b, table, true)
	b.WriteString("\nOptions for the job:\n")
	writeOptions(&b, table, false)
	b.WriteString("\nOptions of other launchers that are accepted and ignored (-v names them):\n")
	writeIdle(&b, table)
	fmt.Fprintf(&b, `
Rank 0 reads the launcher's standard input (-stdin RANK: another one), the
others read nothing. Output
comes through the launcher, whole lines at a time. SIGINT, SIGTERM, SIGHUP,
SIGQUIT, SIGUSR1, SIGTSTP and SIGCONT are passed on to the ranks; a second
SIGINT or SIGTERM, at least a second later, kills them, and so does the end of
-grace after SIGTERM; ranks that have not ended within a second are named.
SIGQUIT (Ctrl-\ in a terminal) also shows what each rank waits for, after the
ranks' own output; SIGUSR2 shows that and does nothing else, as halo ps does at
any time. A job ends as a whole: when one rank dies, the others are ended too,
and the launcher says why. Wrappers around ranks, such as Python's subprocess,
may close descriptors: docs/launcher.md.

On other hosts ssh starts halo, which starts the ranks; docs/hosts.md says what
must be installed there. Ranks there get the environment of their host, the
launcher's HALO_ variables, and what -env and -x name.

Ranks can start further programs, by MPI_Comm_spawn or Spawn: on the hosts of
this job unless they name others, on each as many as slots are free there, or
more with -oversubscribe. MPI_UNIVERSE_SIZE is the number of slots. What is
spawned is shown by halo ps, is ended with this job, and ends it when it fails.
-tag-output writes [2:0] before a line of rank 0 of the second spawned job.
docs/dynamic.md has the details, and how jobs connect to each other.

HALO_RANK and HALO_SIZE are set in the environment of ranks, for scripts. Ranks
read HALO_INITIAL_ERRHANDLER, the error handler until the program sets another
(mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return), HALO_COLL_*, the
algorithm of a collective (halo info lists them), and HALO_CHECK (1 is -check).

-check finds mistakes in a running program. Some can be seen in the source:
halovet, a tool of go vet, reports them (docs/checking.md).

Exit status: that of the first rank that failed, 128 plus the signal if one
killed it; the code given to Abort; 124 after -timeout, 125 if the launcher
itself failed or a host was lost, 126 if PROGRAM cannot be executed or built,
127 if it was not found, 2 for a wrong command line. A job whose output cannot
be written goes on; if nothing else has failed the status is 125 then, or 141
if the reader of a pipe has gone.

Examples:
  %[1]s -n 4 ./examples/heat
  %[1]s -n 4 -tag-output -timeout 10m ./solver -steps 1000
  %[1]s -n 1 ./master : -n 8 -env THREADS 1 ./worker
  %[1]s -host a:4,b:4 -n 8 ./examples/heat
`, name)
	return b.String()
}

// helpColumn is where the explanations of options begin.
const helpColumn = 24

func writeOptions(b *strings.Builder, table []option, block bool) {
	for _, o := range table {
		if o.block != block || o.idle {
			continue
		}
		head := "  -" + strings.Join(o.names, ", -")
		for _, a := range o.args {
			head += " " + a
		}
		if len(head) >= helpColumn {
			fmt.Fprintf(b, "%s\n%*s", head, helpColumn, "")
		} else {
			fmt.Fprintf(b, "%-*s", helpColumn, head)
		}
		writeWords(b, o.help, helpColumn)
	}
}

// writeIdle lists the options without effect. Blanks that do not break keep the arguments
// of an option on its line.
func writeIdle(b *strings.Builder, table []option) {
	var all []string
	for _, o := range table {
		if o.idle {
			all = append(all, strings.Join(append([]string{"-" + o.names[0]}, o.args...), "\u00a0"))
		}
	}
	b.WriteString("  ")
	writeWords(b, strings.Join(all, ", "), len("  "))
}

// writeWords writes text in lines of 80 columns, the first of which has begun already.
func writeWords(b *strings.Builder, text string, indent int) {
	column := indent
	for i, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }) {
		if column+1+utf8.RuneCountInString(w) > 80 {
			fmt.Fprintf(b, "\n%*s", indent, "")
			column = indent
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(strings.ReplaceAll(w, "\u00a0", " "))
		column += utf8.RuneCountInString(w)
	}
	b.WriteByte('\n')
}
