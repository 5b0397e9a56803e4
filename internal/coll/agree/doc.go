// Package agree compares what the members of a collective say about it: what they call, which root and operation they
// name, and how many elements of which types they give and expect. The statements of the members are its input, and a
// verdict with the text for the user is its output. Package coll carries the statements, in messages or in memory of
// the node.
//
// In checking mode members exchange a Record each and Judge compares all of them. Outside of it they exchange Terms,
// a few bytes that travel with the data. A Refusal is the error of members that depend on one with wrong arguments.
package agree
