package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	// architectureLines is how many lines docs/architecture.md may have. It leads to the code; what is
	// longer belongs in comments there, and rejected ways in docs/decisions.
	architectureLines = 250
	// architectureRows is how many rows its tables below "## Where is" have at least.
	architectureRows = 60
)

// checkArchitecture checks the text of docs/architecture.md: it is short, and what it names exists in
// the repository at root. Two kinds of lines name a file and what it declares:
//
//	| how a window lock is granted | `internal/rma/lock_claim.go` | `Window.claim` |
//	1. `internal/rma/issue.go` `View.Issue`, `Engine.submit`: checks target, epoch and bounds.
//
// The first is a row of a table below "## Where is"; one with empty cells is the title of those that
// follow. The second is a step of a way. A name in Go is that of a function, a method with its type, or
// a type. A name in C or assembly is that of a function, a struct, a macro or a label.
func checkArchitecture(root string, page []byte, report func(line int, format string, args ...any)) {
	lines := strings.Split(strings.TrimSuffix(string(page), "\n"), "\n")
	if len(lines) > architectureLines {
		report(len(lines), "%d lines: at most %d; a design belongs in the comment of its type, a rejected way in docs/decisions", len(lines), architectureLines)
	}
	aStep, step := regexp.MustCompile(`^[0-9]+\. `), regexp.MustCompile("^[0-9]+\\. `([^`]+)` ((?:`[^`]+`(?:, )?)+):")
	known := declarations{}
	rows, inTables := 0, false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "## "):
			inTables = strings.HasPrefix(line, "## Where is")
		case inTables && strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
			for k := range cells {
				cells[k] = strings.TrimSpace(cells[k])
			}
			switch {
			case len(cells) != 3 || cells[0] == "":
				report(i+1, "a row has a question, a file and a name")
			case cells[1]+cells[2] == "" || cells[1] == "File" || strings.HasPrefix(cells[1], "---"):
				// a title, or the head of the table
			default:
				rows++
				known.check(root, strings.Trim(cells[1], "`"), cells[2], i+1, report)
			}
		case aStep.MatchString(line):
			m := step.FindStringSubmatch(line)
			if m == nil {
				report(i+1, "a step of a way begins with a file, names and a colon")
				continue
			}
			known.check(root, m[1], m[2], i+1, report)
		}
	}
	if rows < architectureRows {
		report(len(lines), `%d rows below "## Where is": at least %d`, rows, architectureRows)
	}
}

// checkPlaced checks names and the files that declare them in running text: `Proc.Wait` in
// `internal/proc/wait.go`.
func checkPlaced(root string, page []byte, report func(line int, format string, args ...any)) {
	placed := regexp.MustCompile("(`[\\w.]+`) (?:in|of) `([\\w/.-]+\\.(?:go|c|h|S))`")
	known := declarations{}
	for i, line := range strings.Split(string(page), "\n") {
		for _, m := range placed.FindAllStringSubmatch(line, -1) {
			known.check(root, m[2], m[1], i+1, report)
		}
	}
}

// declarations are the files that have been read, by their paths.
type declarations map[string]*File

// check reports each name in backquotes that a file does not declare, or that there is none.
func (d declarations) check(root, file, names string, line int, report func(line int, format string, args ...any)) {
	quoted := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1)
	if len(quoted) == 0 {
		report(line, "no name in backquotes")
		return
	}
	f, err := d.read(root, file)
	if err != nil {
		report(line, "%v", err)
		return
	}
	for _, name := range quoted {
		if f.Go != nil && !declaresInGo(f.Go, name[1]) || f.Go == nil && !declaresInC(f.Text, name[1]) {
			report(line, "%s does not declare %s", file, name[1])
		}
	}
}

// read returns a file.
func (d declarations) read(root, file string) (*File, error) {
	if f := d[file]; f != nil {
		return f, nil
	}
	if file == "" || !isSource(path.Base(file)) && path.Ext(file) != ".S" {
		return nil, fmt.Errorf("%q is no source file", file)
	}
	f, err := parse(root, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", file)
	}
	if err == nil {
		err = f.Error
	}
	if err == nil {
		d[file] = f
	}
	return f, err
}

// declaresInGo reports whether a file declares a function, a method, as Type.Method, or a type.
func declaresInGo(f *ast.File, name string) bool {
	return slices.ContainsFunc(f.Decls, func(decl ast.Decl) bool {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			declared := decl.Name.Name
			if decl.Recv != nil {
				declared = receiver(decl.Recv.List[0].Type) + "." + declared
			}
			return declared == name
		case *ast.GenDecl:
			return slices.ContainsFunc(decl.Specs, func(spec ast.Spec) bool {
				t, ok := spec.(*ast.TypeSpec)
				return ok && t.Name.Name == name
			})
		}
		return false
	})
}

// declaresInC reports whether a text in C or assembly defines a function, a struct, a macro or a label.
// A definition begins in the first column; a prototype, which ends with a semicolon, is none.
func declaresInC(text []byte, name string) bool {
	n := regexp.QuoteMeta(name)
	definition := regexp.MustCompile(`(?m)^(\w[^;={}\n]*\b` + n + `\s*\([^;{}]*\{|(typedef )?struct ` + n + ` \{|#define ` + n + `\b|` + n + `:)`)
	return definition.Match(text)
}
