package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/cgocall"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// ofVet are the analyzers of go vet.
func ofVet() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		appends.Analyzer, asmdecl.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer,
		cgocall.Analyzer, composite.Analyzer, copylock.Analyzer, defers.Analyzer, directive.Analyzer,
		errorsas.Analyzer, framepointer.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer,
		loopclosure.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer,
		sigchanyzer.Analyzer, slog.Analyzer, stdmethods.Analyzer, stdversion.Analyzer, stringintconv.Analyzer,
		structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer, timeformat.Analyzer, unmarshal.Analyzer,
		unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
	}
}

// analyzers are those of go vet, and those that staticcheck runs unless told otherwise.
func analyzers() []*analysis.Analyzer {
	all := append(ofVet(), unused.Analyzer.Analyzer)
	for _, set := range [][]*lint.Analyzer{simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers} {
		for _, a := range set {
			if !a.Doc.NonDefault {
				all = append(all, a.Analyzer)
			}
		}
	}
	return all
}

// known is an error if go vet has an analyzer that is not in ofVet: of a newer Go, it is to be added.
func known() error {
	out, err := exec.Command("go", "tool", "vet", "help").Output()
	if err != nil {
		return fmt.Errorf("go tool vet help: %w", err)
	}
	have := map[string]bool{}
	for _, a := range ofVet() {
		have[a.Name] = true
	}
	_, list, _ := bytes.Cut(out, []byte("Registered analyzers:\n"))
	lines := bufio.NewScanner(bytes.NewReader(list))
	count := 0
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			if count > 0 {
				break
			}
			continue
		}
		count++
		if !have[words[0]] {
			return fmt.Errorf("go vet has an analyzer %s, which package analyze does not run: add it to ofVet", words[0])
		}
	}
	if count == 0 {
		return fmt.Errorf("go tool vet help lists no analyzers:\n%s", out)
	}
	return nil
}

// declarations are what staticcheck finds used and unused. What one variant of a package uses is used.
type declarations struct {
	used   map[spot]bool
	unused map[spot]unused.Object
}

// spot is where something is declared. A line can declare several names.
type spot struct {
	file string
	line int
	name string
}

func (d *declarations) add(result unused.Result) {
	if d.used == nil {
		d.used, d.unused = map[spot]bool{}, map[spot]unused.Object{}
	}
	at := func(o unused.Object) spot { return spot{o.Position.Filename, o.Position.Line, o.Name} }
	for _, o := range result.Used {
		d.used[at(o)] = true
	}
	for _, o := range result.Unused {
		d.unused[at(o)] = o
	}
}

// report reports what nothing uses.
func (d *declarations) report(r *report) {
	for at, o := range d.unused {
		if !d.used[at] {
			r.add(fmt.Sprintf("%s: %s %s is unused (U1000)", o.DisplayPosition, o.Kind, o.Name))
		}
	}
}
