// Package testrun says which fabrics a run of the tests covers, prepares what tests start, and ends tests that
// hang. Package mpitest, the packages hosttest and enginetest, and tests of the engine use it.
//
// Each test runs over each fabric once in `make test`: over inproc and tcp in a build with the
// race detector, over shm in one without. The detector does not see synchronisation in memory that
// processes share; inproc runs the same code on the heap. Tests of properties that only a build
// without the detector has, such as no allocations, run over all fabrics in that build (PlainOnly).
//
// A test that waits uses Until, Context or Watch, which give up when the processes of the test have been idle for 30 s,
// or after 20 minutes: a busy machine may be a hundred times slower than a quiet one.
//
// The trap: HALO_TEST_ONCE is set only by `make test`, for the build without the detector. A test that lists fabrics by
// itself, instead of by Fabrics, runs twice there; one that calls Covered without being visible to the detector
// runs nowhere.
package testrun
