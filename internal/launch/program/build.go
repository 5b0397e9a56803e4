//go:build unix

package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/sys"
)

// TakeWord is the argument with which the launcher's program starts itself as a subprocess for TakeBinary.
const TakeWord = "halo-take-binary"

// A Builder makes binaries of Go packages in a directory of its own.
//
// It uses go run, and not go build: go run keeps whole executables in the build cache, so
// that an unchanged program is not linked again, which takes a third of the time. The -exec
// program of go run is this program as a subprocess that copies the binary.
type Builder struct {
	Dir    string // private; made at the first build
	Mark   string // in the environment of the go command
	Stderr io.Writer

	mu      sync.Mutex
	running map[int]bool // process groups of go commands
	stopped bool
}

// Build makes all programs that are packages, at the same time. A package that occurs several
// times is built once.
func (b *Builder) Build(programs []*Program) error {
	same := map[Program][]*Program{}
	for _, p := range programs {
		if p.Pkg != "" {
			same[*p] = append(same[*p], p)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	i := 0
	for key, group := range same {
		out := filepath.Join(b.Dir, strconv.Itoa(i), programName(&key))
		i++
		wg.Go(func() {
			err := b.one(&key, out)
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed = err
			}
			for _, p := range group {
				p.File = out
			}
		})
	}
	wg.Wait()
	return failed
}

// programName is the name of a binary: the name of its package.
func programName(p *Program) string {
	name := filepath.Base(p.Pkg)
	if p.Pkg == "." {
		name = filepath.Base(p.dir)
	}
	name = strings.TrimSuffix(name, ".go")
	if name == "/" || name == "." || strings.HasPrefix(name, "-") {
		name = "program"
	}
	return name
}

func (b *Builder) one(p *Program, out string) error {
	name := p.Pkg
	if p.dir != "" {
		name = p.dir
	}
	if err := os.Mkdir(filepath.Dir(out), 0o700); err != nil {
		return err
	}
	args := []string{"build", "-buildvcs=false", "-o", out, p.Pkg}
	if take := takeCommand(out); take != "" {
		args = []string{"run", "-buildvcs=false", "-exec", take, p.Pkg}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOTMPDIR="+b.Dir, plan.EnvJob+"="+b.Mark)
	cmd.Stdout, cmd.Stderr = b.Stderr, b.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sys.DieWithParent(cmd.SysProcAttr)

	runtime.LockOSThread() // this thread is the parent for DieWithParent
	defer runtime.UnlockOSThread()
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		return errors.New("stopped")
	}
	err := cmd.Start()
	if err == nil && b.running == nil {
		b.running = map[int]bool{}
	}
	if err == nil {
		b.running[cmd.Process.Pid] = true
	}
	b.mu.Unlock()
	if err != nil {
		return exit.CannotRunf("building %s: %w", name, err)
	}
	err = cmd.Wait()
	b.mu.Lock()
	delete(b.running, cmd.Process.Pid)
	b.mu.Unlock()
	if err != nil {
		return exit.CannotRunf("building Go package %s failed, see above (go %s: %v)", name, args[0], err)
	}
	if executable(out) == "" {
		return exit.CannotRunf("building Go package %s gave no program: is it a package main?", name)
	}
	return nil
}

// Stop ends the builds in progress.
func (b *Builder) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	for pid := range b.running {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// takeCommand is the value for go run's -exec; "" if quoting cannot express it.
func takeCommand(out string) string {
	self, err := os.Executable()
	if err != nil || executable(self) == "" {
		return ""
	}
	words := []string{self, TakeWord, out}
	for i, w := range words {
		quote := "'"
		if strings.Contains(w, quote) {
			quote = `"`
		}
		if strings.Contains(w, quote) {
			return "" // the go command knows no escapes
		}
		words[i] = quote + w + quote
	}
	return strings.Join(words, " ")
}

// TakeBinary makes a hard link to the executable, or copies it where
// that is not possible.
func TakeBinary(to, from string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Close())
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	return err
}
