// Package callsite describes calls of a program by name and place in its source, for the reports of
// checking mode.
package callsite

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
)

// Call is a call of the program: its name, and its place in the source. A binding of another
// language knows only an address, PC, which becomes text when a report is written (Locator.Place).
type Call struct {
	Name, Site string
	PC         uintptr     // return address of a call in another language; 0: Site is known
	Number     call.Number // of Name, which is in the program's language, if that is a call of this process; else None
}

// Address is a place in code that a file contains. Other processes can find the place, too, unless they
// cannot read that file.
type Address struct {
	Offset uint64 // in the file
	Path   string
}

// Locator describes calls of a program. Without Place it is that of Go, where calls carry their
// places as text. The other functions may be nil: then nothing is known.
type Locator struct {
	Here  func() Call                      // the call that the program is making
	Place func(pc uintptr) string          // place in the source of the call that returns to pc
	File  func(pc uintptr) (Address, bool) // what is mapped at pc
	Lines func(list []Address) []string    // places in the source of calls that return to addresses
}

// Max is the longest place of a call in bytes.
const Max = 200

// Where returns the place in the source of a call of this process.
func (l *Locator) Where(c *Call) string {
	switch {
	case c.PC == 0:
		return c.Site
	case l.Place == nil:
		return fmt.Sprintf("%#x", c.PC)
	}
	site := l.Place(c.PC)
	return site[max(0, len(site)-Max):]
}

// Called returns the name and the place of a call of this process, separated by the text between.
func (l *Locator) Called(c *Call, between string) string { return c.Name + between + l.Where(c) }

// Current returns the call that the program is making; its place is empty if that is not known.
func (l *Locator) Current() Call {
	if l.Here == nil {
		return Call{}
	}
	return l.Here()
}

// An address in a text stands between these two characters, which are printable and in no file name
// that a compiler is usually given.
const open, shut = "⦅", "⦆"

// Portable returns the place of a call of this process as text that other processes of the job
// understand. Looking up a line of C takes a process (package lines), so that the text contains the
// address, and whoever writes a report has the line looked up (Resolve).
func (l *Locator) Portable(c *Call) string {
	if c.PC == 0 || l.File == nil {
		return l.Where(c)[:min(len(l.Where(c)), Max)]
	}
	a, ok := l.File(c.PC)
	switch {
	case !ok:
		return fmt.Sprintf("%#x", c.PC)
	case len(a.Path) > Max-len(open)-len(shut)-17 || strings.Contains(a.Path, shut):
		return fmt.Sprintf("%s+%#x", filepath.Base(a.Path), a.Offset)
	}
	return open + strconv.FormatUint(a.Offset, 16) + " " + a.Path + shut
}

// Resolve returns a text in which each address of Portable is replaced by its place in the source. It
// may start a process to find places of C.
func (l *Locator) Resolve(text string) string { return Resolve(text, l.Lines) }

// Resolve is Locator.Resolve with a function that finds places. With nil an address becomes the name of
// the file and the offset.
func Resolve(text string, find func(list []Address) []string) string {
	var list []Address
	each(text, func(_, _ int, a Address) { list = append(list, a) })
	if list == nil {
		return text
	}
	var places []string
	if find != nil {
		places = find(list)
	}
	var b strings.Builder
	done, n := 0, 0
	each(text, func(from, to int, a Address) {
		b.WriteString(text[done:from])
		if n < len(places) {
			b.WriteString(places[n])
		} else {
			fmt.Fprintf(&b, "%s+%#x", filepath.Base(a.Path), a.Offset)
		}
		done = to
		n++
	})
	b.WriteString(text[done:])
	return b.String()
}

// each calls fn for each address in a text, with where it begins and ends.
func each(text string, fn func(from, to int, a Address)) {
	for at := 0; ; {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return
		}
		from := at + i
		n := strings.Index(text[from:], shut)
		if n < 0 {
			return
		}
		at = from + n + len(shut)
		number, path, _ := strings.Cut(text[from+len(open):from+n], " ")
		if offset, err := strconv.ParseUint(number, 16, 64); err == nil && path != "" {
			fn(from, at, Address{offset, path})
		}
	}
}

// Pair returns a text with the places of the calls of two ranks, the lower rank first, to be appended to
// the description of what the two disagree about. It is empty if neither is known.
func Pair(a int, at string, b int, other string) string {
	if a > b {
		a, at, b, other = b, other, a, at
	}
	var parts []string
	for _, x := range [...]struct {
		rank int
		at   string
	}{{a, at}, {b, other}} {
		if x.at != "" {
			parts = append(parts, fmt.Sprintf("rank %d at %s", x.rank, x.at))
		}
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
