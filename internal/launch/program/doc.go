// Package program finds what a block of a command line starts: a file, or a Go package, which it builds. It also tells
// which MPI a program is linked with, for messages.
//
// The launcher asks for programs of its own host, and an agent checks that the same path is a program there (Check).
//
// A Builder starts go commands and waits for them itself. If its process also reaps all children, the reaper may be
// faster, and the build then fails.
package program
