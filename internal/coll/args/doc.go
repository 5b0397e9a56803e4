// Package args has the arguments of a collective that a member gives: its two Sides, counts, displacements and the
// operation. One function for each kind of arguments, Check, validates what this member can see of them. It also cuts memory
// to the part that is used, so that package coll need not ask again. How members disagree with each other is not seen
// here: see package agree.
package args
