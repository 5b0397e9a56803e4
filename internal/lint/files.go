package lint

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// MaxLines is the longest file a person still reads as one thing. Generated
// files are not read.
const MaxLines = 450

func checkLength(f *File, report func(int, string, ...any)) {
	if n := bytes.Count(f.Text, []byte{'\n'}); n > MaxLines && !f.generated() {
		report(MaxLines+1, "%d lines, the limit is %d: one noun a file", n, MaxLines)
	}
}

// checkNames refuses names that say nothing of what is inside.
func checkNames(f *File, report func(int, string, ...any)) {
	for part := range strings.SplitSeq(f.Path, "/") {
		base, _, _ := strings.Cut(strings.TrimSuffix(part, path.Ext(part)), "_")
		switch strings.ToLower(base) {
		case "util", "utils", "common", "helper", "helpers", "misc":
			report(1, "the name %q says nothing: call it what it holds", part)
		}
	}
}

// checkUnfinished finds the marks of work left for later. What is open stands
// in the issues, where somebody looks.
func checkUnfinished(f *File, report func(int, string, ...any)) {
	marks := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`) // in halves, for this very check
	for i, line := range bytes.Split(f.Text, []byte{'\n'}) {
		if m := marks.Find(line); m != nil {
			report(i+1, "%s: finish it, or open an issue", m)
		}
	}
}
