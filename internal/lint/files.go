package lint

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// MaxLines is the greatest length of a file in lines. It does not apply to generated
// files, which people do not read.
const MaxLines = 450

func checkLength(f *File, report func(int, string, ...any)) {
	if n := bytes.Count(f.Text, []byte{'\n'}); n > MaxLines && !f.generated() {
		report(MaxLines+1, "%d lines, the limit is %d: one noun a file", n, MaxLines)
	}
}

// checkNames refuses file names that do not describe the content.
func checkNames(f *File, report func(int, string, ...any)) {
	for part := range strings.SplitSeq(f.Path, "/") {
		base, _, _ := strings.Cut(strings.TrimSuffix(part, path.Ext(part)), "_")
		switch strings.ToLower(base) {
		case "util", "utils", "common", "helper", "helpers", "misc":
			report(1, "the name %q says nothing: call it what it holds", part)
		}
	}
}

// checkUnfinished finds marks of unfinished work: open work belongs into the issues.
func checkUnfinished(f *File, report func(int, string, ...any)) {
	marks := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`) // in halves, or it would find itself
	for i, line := range bytes.Split(f.Text, []byte{'\n'}) {
		if m := marks.Find(line); m != nil {
			report(i+1, "%s: finish it, or open an issue", m)
		}
	}
}

// checkCitations forbids references to issues by number, which readers of the repository cannot open.
func checkCitations(f *File, report func(int, string, ...any)) {
	citation := regexp.MustCompile(`\b[Ii]ss` + `ue [0-9]+`) // in halves, as above
	for i, line := range bytes.Split(f.Text, []byte{'\n'}) {
		if m := citation.Find(line); m != nil {
			report(i+1, "%q: say what it asks for, or name the feature", m)
		}
	}
}
