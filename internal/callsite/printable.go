package callsite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text from a peer with ? in place of what cannot be printed.
func Printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(b))
}
