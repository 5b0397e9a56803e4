// Program find plants Halo's known faults, one at a time, and runs the tests that are to
// find each. It says which test failed, and how long that took:
//
//	go run ./internal/planted/find [-faults REGEXP] [-limit 10m] [-write docs/testing.md]
//
// It is make faults, and is run from the root of the repository. It builds one test binary of each package with the
// tag faults, and HALO_FAULT chooses the fault of a run: see package planted. It ends with status 1 if a fault is not
// found within the limit, or if a test fails though nothing is planted.
//
// The trap: a test that hangs has not found the fault: it has to detect the hang and fail. Any failure of a test
// counts, so a fault that crashes at once shows nothing about the tests. A constant that is new in package planted
// needs an entry in list.go.
package main
