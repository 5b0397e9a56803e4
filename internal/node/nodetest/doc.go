// Package nodetest plays the launcher of one node for tests: a Host holds the shared memory, and
// the processes are opened in the test itself or in a program that it starts. It needs Linux.
package nodetest
