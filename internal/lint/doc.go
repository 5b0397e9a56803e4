// Package lint holds the style rules that a program can check, and the test that
// checks them on this repository: which layer may import which, no mutable state at
// package level, documentation that cites the standard, short files with good names. It also writes
// docs/conformance.md, from the names of all tests (conformance.go, features.go). Only its own test uses it:
//
//	go test ./internal/lint                       # some 20 seconds; make rules
//	go test ./internal/lint -run Conformance -update
//
// It reads source text and does not build, so that one run checks the files of every
// platform, and code that does not compile yet.
//
// A new rule is a function in Rules, and a violation of it in testdata/planted that the test finds. The tables
// beside the rules are the places for what a change of the repository brings: layers, separations, exemptions, retired
// words.
//
// The trap: a rule sees syntax, and no types. An imported package may have another name than its folder, and a method
// is known by the name of its receiver's type only.
package lint
