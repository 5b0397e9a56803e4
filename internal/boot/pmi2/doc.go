// Package pmi2 is a client of PMI version 2, which Slurm serves to the processes of a step that
// srun --mpi=pmi2 starts. Package joined opens it, and it is an engine.Client like the others.
//
// The client sends a line in the format of PMI-1, and the server answers it. Then both send frames:
//
//	length, 6 characters of decimal digits and spaces | cmd=NAME;key=value;key=value;
//
// Each request but abort has one answer, whose command is that of the request with "-response"
// after it. The fields of an answer come in any order; the client ignores those that it does not know.
//
// The trap: the server in Slurm's node daemon checks nothing. A semicolon in a value, and a key or a value
// that is too long, destroy its heap. This client sends only what engine.CheckKey and
// engine.CheckValue permit, and every new request must keep to that.
package pmi2
