package plan

import (
	"fmt"
	"strings"
)

// splitWords splits a line at blanks. Single or double quotes protect blanks and the other
// kind of quote; '#' at the start of a word begins a comment. Nothing else is
// special: no shell reads this.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	started := false
	flush := func() {
		if started {
			words = append(words, word.String())
			word.Reset()
			started = false
		}
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == ' ' || c == '\t' || c == '\r':
			flush()
		case c == '#' && !started:
			return words, nil
		default:
			word.WriteRune(c)
			started = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("no closing %c", quote)
	}
	flush()
	return words, nil
}
