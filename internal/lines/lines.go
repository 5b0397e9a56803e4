// Package lines finds the places of calls in the source of C programs, for reports of the checking
// mode: file and line if there is debugging information, else symbol and offset, else module and
// offset.
//
// Ranks do not use the package themselves. They run the launcher's program with the argument
// boot.LinesWord, since the code that reads debugging information would take 0.1 MB of private memory
// in each rank, though hardly any rank ever has anything to report.
package lines

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// module is an executable, or a shared object, that is mapped.
type module struct {
	path     string // empty: nothing could be read
	segments []elf.ProgHeader
	symbols  []elf.Symbol
	debug    *dwarf.Data // nil: none
}

// Answer reads questions, in the form of boot.Question, until the end of in. It writes one line for each. If
// it returns an error because of a text that is no question, it has written nothing.
func Answer(in io.Reader, out io.Writer) error {
	questions, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	modules := map[string]*module{}
	var answers strings.Builder
	for question := range strings.Lines(string(questions)) {
		pid, offset, path, err := boot.ParseQuestion(question)
		if err != nil {
			return err
		}
		if modules[path] == nil {
			modules[path] = readModule(pid, path)
		}
		fmt.Fprintln(&answers, modules[path].place(path, offset))
	}
	_, err = io.WriteString(out, answers.String())
	return err
}

// place is the call that returns to an offset of the file, as a file and a line, or what else is
// known.
func (m *module) place(path string, offset uint64) string {
	at, ok := m.address(offset)
	if !ok {
		return fmt.Sprintf("%s+%#x", filepath.Base(path), offset)
	}
	if line := m.line(at - 1); line != "" { // within the instruction that calls
		return line
	}
	return m.symbol(at)
}

// readModule reads what is known of a file that a process has mapped.
func readModule(pid int, path string) *module {
	file, own := path, "/proc/"+strconv.Itoa(pid)+"/exe"
	if exe, err := os.Readlink(own); err == nil && exe == path {
		file = own // also if it has been removed, or replaced
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return &module{} // the path may come from another process: opening a pipe would wait
	}
	f, err := elf.Open(file)
	if err != nil {
		return &module{}
	}
	defer f.Close()
	m := &module{path: path}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			m.segments = append(m.segments, p.ProgHeader)
		}
	}
	m.read(f)
	if m.debug == nil {
		for _, name := range debugFiles(f, path) {
			if apart, err := elf.Open(name); err == nil {
				m.read(apart)
				apart.Close()
				break
			}
		}
	}
	return m
}

// read takes symbols and debugging information of a file.
func (m *module) read(f *elf.File) {
	symbols, err := f.Symbols()
	if err != nil {
		symbols, err = f.DynamicSymbols()
	}
	if err == nil {
		m.symbols = append(m.symbols, symbols...)
	}
	if f.Section(".debug_line") == nil && f.Section(".zdebug_line") == nil {
		return
	}
	if d, err := f.DWARF(); err == nil {
		m.debug = d
	}
}

// debugFiles are the files that may have the debugging information of a file from which it was removed.
func debugFiles(f *elf.File, path string) (names []string) {
	const system = "/usr/lib/debug"
	if s := f.Section(".note.gnu.build-id"); s != nil {
		if note, err := s.Data(); err == nil && len(note) > 16 {
			id := hex.EncodeToString(note[16:])
			names = append(names, filepath.Join(system, ".build-id", id[:2], id[2:]+".debug"))
		}
	}
	if s := f.Section(".gnu_debuglink"); s != nil {
		if link, err := s.Data(); err == nil {
			name, _, _ := strings.Cut(string(link), "\x00")
			dir := filepath.Dir(path)
			name = filepath.Base(name)
			names = append(names, filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(system, dir, name))
		}
	}
	return names
}

// address is the address of the byte at an offset of the file, in the address space for which the file
// was linked.
func (m *module) address(offset uint64) (uint64, bool) {
	for _, p := range m.segments {
		if p.Off <= offset && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// line is the file and the line of an address, empty if they are not known.
func (m *module) line(at uint64) string {
	if m.debug == nil {
		return ""
	}
	unit, err := m.debug.Reader().SeekPC(at)
	if err != nil {
		return ""
	}
	lines, err := m.debug.LineReader(unit)
	if err != nil || lines == nil {
		return ""
	}
	// Rejected: LineReader.SeekPC, which expects sequences in the order of their addresses. Link-time
	// optimisation and a section for each function leave them in another order.
	var entry, next dwarf.LineEntry
	for lines.Next(&next) == nil {
		if entry.Address <= at && at < next.Address && !entry.EndSequence && entry.File != nil && entry.Line > 0 {
			return filepath.Base(entry.File.Name) + ":" + strconv.Itoa(entry.Line)
		}
		entry = next
	}
	return ""
}

// symbol is the function that contains an address, and the offset of the address in it.
func (m *module) symbol(at uint64) string {
	var best elf.Symbol
	for _, s := range m.symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Value <= at && at <= s.Value+s.Size && s.Value >= best.Value {
			best = s
		}
	}
	name := filepath.Base(m.path)
	if best.Name == "" {
		return fmt.Sprintf("%s+%#x", name, at)
	}
	return fmt.Sprintf("%s+%#x in %s", best.Name, at-best.Value, name)
}
