//go:build unix

package reach

import "strings"

// quote quotes a word for the shell in which sshd runs a command: sh and similar
// shells, csh and fish. Characters that are not harmless are put between single quotes,
// except for three that are special there in one of the shells; those are outside of
// quotes after a backslash.
//
// Only the path of the launcher's own program is passed in this way: all other data
// for a host go to the agent's standard input.
func quote(word string) string {
	harmless := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+,", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !harmless(c) }) < 0 {
		return word
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(word) { // by bytes, since a file name need not be UTF-8
		switch c := word[i]; c {
		case '\'', '\\', '!':
			b.WriteString(`'\`)
			b.WriteByte(c)
			b.WriteByte('\'')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
