// Package dtypetest makes random datatypes, and an oracle for their meaning that shares
// no code with the engine. Tests of packages that move data by types use it: dtype, mem, file, and the random
// programs of mpi/histories.
//
// A Spec is a program of constructor calls; Generator makes random ones. Spec.Build
// calls the constructors of package dtype. Spec.Typemap lists the typemap entry by entry,
// as the standard defines it. Regroup makes another layout of the same sequence of basic
// types, for the other side of a message. Shrink finds the simplest case that still fails.
//
// The trap: the length of a typemap is the number of elements. Typemap takes a limit, and
// callers must skip types with longer typemaps.
package dtypetest
