package mpi

import "github.com/halo-mpi/halo/internal/dtype"

// DatatypeOfEngine is a handle for a type of the engine: tests make types at random,
// of basic types that Go lacks, too.
func DatatypeOfEngine(t *dtype.Type) Datatype { return Datatype{&datatype{t: t}} }
