//go:build unix

package launch

import "strings"

// quote writes a word so that the shell in which sshd runs a command takes it
// for just that word: sh and those like it, csh and fish. What is not harmless
// stands between single quotes, but for the three characters that are special
// there in one of them; those stand outside after a backslash.
//
// Only the path of the launcher's own program is ever written so: whatever else
// a host must know goes to the agent's standard input.
func quote(word string) string {
	harmless := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+,", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !harmless(c) }) < 0 {
		return word
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(word) { // bytes: a file name need not be UTF-8
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
