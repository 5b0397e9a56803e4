//go:build unix

package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

// A Program is what a block starts: a file, or a Go package to be built.
type Program struct {
	File string // absolute; "" until a package is built
	Pkg  string // argument for go run; "" for a file
	dir  string // working directory of go run
}

// Find looks up the program of a block: as given, then in -path, then in PATH.
func Find(b *plan.Block) (*Program, error) {
	name := b.Program
	if strings.HasSuffix(name, ".go") {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return goPackage(name, "")
		}
	}
	p, err := given(name)
	if p != nil || err != nil {
		return p, err
	}
	if b.Dir != "" && !filepath.IsAbs(name) {
		if file := executable(filepath.Join(b.Dir, name)); file != "" {
			return &Program{File: file}, nil
		}
	}
	if !strings.ContainsRune(name, filepath.Separator) {
		for _, dir := range b.Path {
			if file := executable(filepath.Join(dir, name)); file != "" {
				return &Program{File: file}, nil
			}
		}
		if file, err := exec.LookPath(name); err == nil {
			file, err = filepath.Abs(file)
			return &Program{File: file}, err
		}
	}
	if importPath(name) {
		return goPackage(name, "")
	}
	where := "it is no file, and not in PATH"
	if len(b.Path) > 0 {
		where = fmt.Sprintf("it is no file, and neither in -path %s nor in PATH", strings.Join(b.Path, ":"))
	}
	if strings.ContainsRune(name, filepath.Separator) {
		where = "there is no such file or directory"
	}
	return nil, exit.NotFoundf("program %q not found: %s; is it built, and is the name right?", name, where)
}

// given checks whether name itself is a program; nil means that the search continues.
func given(name string) (*Program, error) {
	info, err := os.Stat(name)
	explicit := strings.ContainsRune(name, filepath.Separator) || name == "." || name == ".."
	switch {
	case err != nil && explicit && !errors.Is(err, fs.ErrNotExist):
		return nil, exit.CannotRunf("program %q: %w", name, err)
	case err != nil:
		return nil, nil
	case info.IsDir():
		sources, _ := filepath.Glob(filepath.Join(escapeGlob(name), "*.go"))
		if len(sources) > 0 {
			dir, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			return goPackage(".", dir)
		}
		if explicit {
			return nil, exit.CannotRunf("%q is a directory without Go files: name a program", name)
		}
	case executable(name) != "":
		return &Program{File: executable(name)}, nil
	case explicit:
		return nil, exit.CannotRunf("%q cannot be executed: its mode is %v (chmod +x?)", name, info.Mode())
	}
	return nil, nil
}

// escapeGlob escapes a path so that a pattern matches only it.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// executable returns the absolute path of name if it is a file that may be executed.
func executable(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	return abs
}

// importPath reports whether name looks like the path of a Go package that is
// not named by its directory: a host name comes first.
func importPath(name string) bool {
	first, _, slash := strings.Cut(name, "/")
	return slash && strings.Contains(first, ".") && first != "." && first != ".."
}

func goPackage(pkg, dir string) (*Program, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, exit.CannotRunf("%q is a Go package, but the go command is not in PATH: build it elsewhere and name the binary", pkg)
	}
	return &Program{Pkg: pkg, dir: dir}, nil
}

// Check checks whether a program can be started on this host.
func Check(a *plan.App) error {
	info, err := os.Stat(a.File)
	switch {
	case err != nil && errors.Is(err, os.ErrNotExist):
		return exit.NotFoundf("there is no program %s: it must be there under the same path as where halo run was started "+
			"(copy it, let -push copy it, or build it in a directory that all hosts share)", a.File)
	case err != nil:
		return exit.CannotRunf("program %w", err)
	case executable(a.File) == "":
		return exit.CannotRunf("%s cannot be executed: its mode is %v (chmod +x?)", a.File, info.Mode())
	}
	if info, err := os.Stat(a.Dir); a.Dir != "" && (err != nil || !info.IsDir()) {
		return exit.CannotRunf("there is no directory %s: name one that all hosts have by -wdir", a.Dir)
	}
	return nil
}
