// Package planted plants bugs, so that the tests can be tested: a suite that never saw a
// fault may be one that finds none.
//
// Each constant names a bug, and the places that have it read as
//
//	if planted.LockShared {
//
// Without the build tag faults all of them are the constant false: the compiler removes
// such a place before it decides what to inline. With the tag
// they are variables, and the environment variable HALO_FAULT chooses the one that is
// true, so that one build of a test serves for all of them, and the processes that it
// starts have the same bug. If none is chosen, such a build has no bug.
//
// Program find, in a folder below, runs for each fault the tests that are to find it:
// make faults. docs/testing.md has the table.
//
// The trap: a place must do what the comment of its constant says and no more. Any test
// would find a panic.
package planted
