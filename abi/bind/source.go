package bind

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/callsite"
)

// sources finds the places of calls in the source of the program: file and line if there is
// debugging information, else symbol and offset, else module and offset. The program halo reads
// the debugging information (internal/lines); sources starts it when a report is written.
type sources struct {
	mu    sync.Mutex
	known map[callsite.Address]string
	files map[uintptr]callsite.Address // of calls whose files were asked for
}

// place returns the place of the call with a return address.
func (s *sources) place(pc uintptr) string {
	a, ok := s.file(pc)
	if !ok {
		return fmt.Sprintf("%#x", pc)
	}
	return s.lines([]callsite.Address{a})[0]
}

// find finds the places of several calls at once, which takes hardly longer than for one.
func (s *sources) find(pcs ...uintptr) {
	var list []callsite.Address
	for _, pc := range pcs {
		if a, ok := s.file(pc); ok {
			list = append(list, a)
		}
	}
	s.lines(list)
}

// file returns what is mapped at a return address. A file that was mapped once is taken to stay mapped
// there: reading all mappings for each call would take most of its time.
func (s *sources) file(pc uintptr) (a callsite.Address, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok = s.files[pc]
	if ok {
		return a, true
	}
	m, ok := mappingOf(pc)
	if !ok {
		return a, false
	}
	if s.files == nil {
		s.files = make(map[uintptr]callsite.Address)
	}
	a = callsite.Address{Offset: uint64(pc - m.lo + m.offset), Path: m.path}
	s.files[pc] = a
	return a, true
}

// lines returns the places of calls that return to addresses, of this process or of other ones of the job.
func (s *sources) lines(list []callsite.Address) (places []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[callsite.Address]string)
	}
	var questions strings.Builder
	var asked []callsite.Address
	for _, a := range list {
		if _, ok := s.known[a]; !ok {
			s.known[a] = fmt.Sprintf("%s+%#x", filepath.Base(a.Path), a.Offset)
			questions.WriteString(boot.Question(os.Getpid(), a.Offset, a.Path))
			asked = append(asked, a)
		}
	}
	if len(asked) > 0 {
		for _, halo := range launchers() {
			answers, err := ask(halo, questions.String())
			if lines := strings.Split(strings.TrimSuffix(answers, "\n"), "\n"); err == nil && len(lines) == len(asked) {
				for i, a := range asked {
					s.known[a] = lines[i]
				}
				break
			}
		}
	}
	for _, a := range list {
		places = append(places, s.known[a])
	}
	return places
}

// launchers returns the possible paths of the program halo: the one that the launcher passes in
// the environment, and the one beside the installed library.
func launchers() (paths []string) {
	if halo := os.Getenv(boot.EnvHalo); halo != "" {
		paths = append(paths, halo)
	}
	pc, _, _, _ := runtime.Caller(0)
	if m, ok := mappingOf(pc); ok {
		paths = append(paths, filepath.Join(filepath.Dir(m.path), "../bin/halo"))
	}
	return paths
}

// ask runs the program halo to answer questions. The program does not inherit the environment,
// which may name libraries to preload into the C program.
func ask(halo, questions string) (answers string, err error) {
	in, questionsTo, err := os.Pipe()
	if err != nil {
		return "", err
	}
	answersFrom, out, err := os.Pipe()
	if err != nil {
		in.Close()
		questionsTo.Close()
		return "", err
	}
	env := []string{boot.EnvJob + "=" + os.Getenv(boot.EnvJob)}
	p, err := os.StartProcess(halo, []string{halo, boot.LinesWord}, &os.ProcAttr{Env: env, Files: []*os.File{in, out}})
	in.Close()
	out.Close()
	defer answersFrom.Close()
	if err != nil {
		questionsTo.Close()
		return "", err
	}
	_, err = io.WriteString(questionsTo, questions)
	questionsTo.Close()
	text, err2 := io.ReadAll(answersFrom)
	p.Wait() // may fail if the program has reaped its child; the answers are complete anyway
	return string(text), errors.Join(err, err2)
}

// mapping is a mapped part of a file.
type mapping struct {
	lo, hi, offset uintptr
	path           string
}

// mappingOf returns the mapping that contains an address.
func mappingOf(pc uintptr) (m mapping, ok bool) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return m, false
	}
	for line := range strings.Lines(string(text)) {
		m, ok = parseMapping(line)
		if ok && m.lo <= pc && pc < m.hi {
			return m, true
		}
	}
	return m, false
}

// parseMapping parses a line of /proc/self/maps. It reports false for memory without a file.
func parseMapping(line string) (m mapping, ok bool) {
	rest := line
	var words [5]string
	for i := range words {
		words[i], rest, ok = strings.Cut(strings.TrimLeft(rest, " "), " ")
		if !ok {
			return m, false
		}
	}
	low, high, _ := strings.Cut(words[0], "-")
	lo, err := strconv.ParseUint(low, 16, 64)
	hi, err2 := strconv.ParseUint(high, 16, 64)
	offset, err3 := strconv.ParseUint(words[2], 16, 64)
	m = mapping{uintptr(lo), uintptr(hi), uintptr(offset), strings.TrimSuffix(strings.TrimLeft(rest, " "), "\n")}
	return m, err == nil && err2 == nil && err3 == nil && strings.HasPrefix(m.path, "/")
}
