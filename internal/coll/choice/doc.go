// Package choice decides how a collective is carried out: whether short ones go through a slot, and by which algorithm
// the others go, by their kind and size and by where the members are (Site). All members must decide alike, so a Choice is a
// table that is the same in all processes of a job. Tunables are the parts of it that the environment can override.
// Package coll has the algorithms themselves.
package choice
