package wording

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/halo-mpi/halo/internal/cname"
)

// Count returns a text such as "1 thing" or "2 things".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Numbered returns a text with ascending numbers, such as "ranks 0-3, 7".
func Numbered(noun string, ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		if k > i {
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[k]))
		} else {
			parts = append(parts, fmt.Sprint(ranks[i]))
		}
		i = k + 1
	}
	if len(ranks) != 1 {
		noun += "s"
	}
	return noun + " " + strings.Join(parts, ", ")
}

// Printable removes characters that cannot be shown in one line.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}

// OneLine makes one line of printable characters from text of another program.
func OneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return Printable(strings.Join(lines, "; "))
}

// Calls returns a text with the names of calls in the language of the program: C if inC.
func Calls(text string, inC bool) string {
	if inC {
		return cname.Text(text, false)
	}
	return text
}
