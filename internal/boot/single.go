package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/sys"
)

// singleton is the Boot of a process that no launcher started. With the first Spawn it starts a launcher,
// which ends with the process.
type singleton struct {
	Boot
	inC  bool
	lost chan struct{} // closed when the launcher has ended

	mu       sync.Mutex
	launcher *launched // nil: none yet
}

// Single makes a world of one, without a launcher. inC says that the program uses the C names of calls.
func Single(inC bool) Boot {
	b := Memory(1)[0]
	b.Job().ID = strings.Replace(b.Job().ID, "memory", "single", 1)
	b.Job().Fabric = "shm" // to processes of other jobs on this node
	return &singleton{Boot: b, inC: inC, lost: make(chan struct{})}
}

// Abort ends the process; the launcher then ends what that has spawned.
func (s *singleton) Abort(code int, _ string) { os.Exit(ExitStatus(code)) }

// Lost implements Boot.
func (s *singleton) Lost() <-chan struct{} { return s.lost }

// Finalize implements Boot.
func (s *singleton) Finalize() error {
	if l := s.started(); l != nil {
		return l.Finalize()
	}
	return s.Boot.Finalize()
}

// InUse implements Boot.
func (s *singleton) InUse(used bool) error {
	if l := s.started(); l != nil {
		return l.InUse(used)
	}
	return nil
}

// Segment implements Boot. The launcher has the notes of this process.
func (s *singleton) Segment(which int) (*os.File, error) {
	if l := s.started(); l != nil && which == NotesSegment {
		return l.Segment(which)
	}
	return s.Boot.Segment(which)
}

// Spawn implements Boot.
func (s *singleton) Spawn(ctx context.Context, what *Spawn) (*Spawned, error) {
	s.mu.Lock()
	if s.launcher == nil {
		l, err := startLauncher(s.inC)
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		s.launcher = l
		go func() {
			<-l.lost
			if !l.leaving.over.Load() { // otherwise it has said why the job is over
				fmt.Fprintf(os.Stderr, "halo: process %d ends, because the launcher that it had started to spawn others has ended; was that killed?\n", os.Getpid())
			}
			close(s.lost)
		}()
	}
	l := s.launcher
	s.mu.Unlock()
	return l.Spawn(ctx, what)
}

func (s *singleton) started() *launched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.launcher
}

// AdoptWord is the argument with which the launcher's program serves a process that has started it. The path of
// that process's program follows.
const AdoptWord = "halo-adopt"

// AdoptFD is the descriptor of the link to that process.
const AdoptFD = 3

// startLauncher starts a launcher for this process, which is a world of one.
func startLauncher(inC bool) (*launched, error) {
	halo, err := findHalo()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	mine, theirs, err := sys.LinkPair()
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		theirs.Close()
		mine.Close()
		return nil, err
	}
	attr := &os.ProcAttr{Files: []*os.File{null, os.Stdout, os.Stderr, theirs}, Sys: sys.OwnGroup()}
	p, err := os.StartProcess(halo, []string{halo, AdoptWord, self}, attr)
	theirs.Close() // so that the link ends with the launcher
	null.Close()
	if err != nil {
		mine.Close()
		return nil, fmt.Errorf("starting a launcher: %w", err)
	}
	go p.Wait()
	l, err := dial(mine, greeting{ownVersions(), Build(), inC, true})
	if err != nil {
		mine.Close()
		return nil, fmt.Errorf("the launcher %s: %w", halo, err)
	}
	return l, nil
}

// findHalo finds the launcher's program: named by the environment, beside this program, in the directory bin
// beside that of Halo's library in C, or in PATH.
func findHalo() (string, error) {
	if named := os.Getenv(EnvHalo); named != "" {
		return named, nil
	}
	var dirs []string
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	if lib := mappedLibrary(); lib != "" {
		dirs = append(dirs, filepath.Join(filepath.Dir(filepath.Dir(lib)), "bin"))
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	for _, dir := range dirs {
		file := filepath.Join(dir, "halo")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("a program that was started without a launcher needs the command halo to start others, which is neither beside the program nor in PATH: "+
		"start the program by halo run, or name the command by %s (%w)", EnvHalo, errors.ErrUnsupported)
}

// mappedLibrary returns the path of a library of MPI in C that this process has mapped, "" if there is none.
func mappedLibrary() string {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			if path := strings.TrimSpace(line[at:]); strings.HasPrefix(filepath.Base(path), "libmpi") {
				return path
			}
		}
	}
	return ""
}

// ErrorAbove is the reason of an Abort that the program has not called: it has an error, which is printed already.
const ErrorAbove = "the error above"

// AbortText says that a process has aborted the job by a call with a code, or because of ErrorAbove.
func AbortText(process, call string, code int, reason string) string {
	switch reason {
	case ErrorAbove:
		return fmt.Sprintf("%s ended the job because of %s", process, reason)
	case "":
		return fmt.Sprintf("%s called %s(%d); the job was ended", process, call, code)
	}
	return fmt.Sprintf("%s called %s(%d); the job was ended: %s", process, call, code, reason)
}

// ExitStatus is the exit status of a job that was aborted with a code: the lowest 8 bits of
// the code, which the system keeps, or 1 if these bits are 0 and the code is not.
func ExitStatus(code int) int {
	if code != 0 && code&0xff == 0 {
		return 1
	}
	return code & 0xff
}
