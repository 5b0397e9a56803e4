// Command wordcount counts the words of files. The files, one behind the other,
// are cut into as many parts as there are ranks; each rank reads and counts its
// part only, and rank 0 gathers what they have counted. Read it for cutting input without looking at all of it
// (part.go), and for a gather of unknown lengths (words.go).
//
//	go run ./cmd/halo run -n 4 ./examples/wordcount [-top N] [FILE...]
//
// Without files it counts a text of its own. Every rank opens files by the same
// names: on several hosts they have to be there, too.
//
// The trap: a rank that returns because it cannot read its part leaves the others waiting in the next collective.
// Before that all ranks agree whether they can continue (agree in main.go).
package main
