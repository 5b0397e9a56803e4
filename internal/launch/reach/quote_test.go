//go:build unix

package reach

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// Promise S7 of security.md: a shell reads each quoted word as one word, whatever it contains.
func TestQuotedWordsStayWords(t *testing.T) {
	words := []string{"", "a", "/usr/bin/halo", "a b", "it's", `a"b`, "$HOME", "`id`", "$(id)", ";id", "a\tb", "!!", `\`, `\'`, `'\''`,
		"*", "~", "-n", "a=b", "{a,b}", "#x", "\xff\xfe", "ä", "&", "|", ">x", "<x", "(", "^", "!1", "%1", "a\rb"}
	var line []string
	for _, w := range words {
		line = append(line, quote(w))
	}
	for _, shell := range shells() {
		if got := throughShell(t, shell, strings.Join(line, " ")); !reflect.DeepEqual(got, words) {
			t.Errorf("%s: %q became %q", shell, words, got)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"a b", "it's", "$(id)\n`id`", `\'"!`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			return // arguments of programs cannot contain a zero
		}
		if got := throughShell(t, "sh", quote(word)+" "+quote("end")); len(got) != 2 || got[0] != word || got[1] != "end" {
			t.Fatalf("%q became %q", word, got)
		}
	})
}

func shells() (found []string) {
	for _, s := range []string{"sh", "bash", "dash", "zsh", "csh", "tcsh", "fish"} {
		if path, err := exec.LookPath(s); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// throughShell returns the words into which a shell splits a command line.
func throughShell(t *testing.T, shell, line string) []string {
	t.Helper()
	out, err := exec.Command(shell, "-c", "printf '%s\\0' "+line).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", shell, line, err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}
