package lint

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"unicode"
)

// A retirement is a list of words that no identifier and no file name may contain, and the terms to
// use instead.
type retirement struct {
	words   string // in lower case; a word that ends in * stands for all words with this prefix
	instead string
}

// retired returns words that are neither terms of the standard nor of the field. Words that also
// have an ordinary technical sense, such as line or plain, are not listed: people check those.
func retired() []retirement {
	return []retirement{
		{"afar", "remote"},
		{"bereave* buried buries bury* mourn*", "peer failure: an observer or a callback, lose, down"},
		{"chore* errand*", "task; user-callback task"},
		{"dawdle* doze dozed dozes dozing drowse*", "delay, sleep"},
		{"deed*", "operation"},
		{"express foremost", "priority, first"},
		{"favour*", "bias; biased lock"},
		{"forsake*", "release, abandon"},
		{"glance*", "peek, poll once"},
		{"haste*", "short run"},
		{"heir*", "successor"},
		{"hope* vain*", "attempts that found nothing; back-off"},
		{"mortal*", "fabric whose peers can fail"},
		{"nudge* rouse* stir stirred stirs", "wake, ring"},
		{"patience*", "timeout, limit, back-off"},
		{"pour*", "copy, send"},
		{"ridden ride rider* rides riding rode", "piggyback; a frame that carries another"},
		{"unheeded", "ignored"},
	}
}

// checkWords forbids retired words.
func checkWords(f *File, report func(int, string, ...any)) {
	for _, n := range retiredNames(f) {
		report(n.line, "%s contains the retired word %q: use %s", n.name, n.word, n.instead)
	}
}

// A retiredName is an identifier or a file name that contains a retired word.
type retiredName struct {
	name, word, instead string
	line                int // of its first use in the file
}

// retiredNames returns the names in one Go file that contain retired words, each once. It ignores
// selectors, because their names are declared and counted elsewhere.
func retiredNames(f *File) []retiredName {
	if f.Go == nil {
		return nil
	}
	var found []retiredName
	elsewhere := map[*ast.Ident]bool{}
	look := func(name string, line int) {
		word, instead := retiredWord(name)
		if word != "" && !slices.ContainsFunc(found, func(n retiredName) bool { return n.name == name }) {
			found = append(found, retiredName{name, word, instead, line})
		}
	}
	base := path.Base(f.Path)
	look(strings.TrimSuffix(base, path.Ext(base)), 1)
	ast.Inspect(f.Go, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			elsewhere[n.Sel] = true
		case *ast.Ident:
			if !elsewhere[n] {
				look(n.Name, f.Line(n.Pos()))
			}
		}
		return true
	})
	return found
}

// retiredWord returns the first retired word of a name, "" if there is none, and the term to use
// instead.
func retiredWord(name string) (word, instead string) {
	for _, word := range words(name) {
		for _, r := range retired() {
			for pattern := range strings.FieldsSeq(r.words) {
				if stem, ok := strings.CutSuffix(pattern, "*"); word == pattern || ok && strings.HasPrefix(word, stem) {
					return word, r.instead
				}
			}
		}
	}
	return "", ""
}

// words returns the words of an identifier in lower case: futex and wake for FutexWake2.
func words(name string) []string {
	var all []string
	letters := []rune(name)
	for i := 0; i < len(letters); {
		if !unicode.IsLetter(letters[i]) {
			i++
			continue
		}
		from := i
		i++
		for ; i < len(letters) && unicode.IsLetter(letters[i]); i++ {
			upper := unicode.IsUpper(letters[i])
			// A word begins at an upper-case letter after a lower-case one, and at the last of
			// several upper-case letters before a lower-case one: URLName is url, name.
			if upper && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
				break
			}
		}
		all = append(all, strings.ToLower(string(letters[from:i])))
	}
	return all
}
