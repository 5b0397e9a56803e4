// Package hosttest makes hosts for tests: each has its own network, hostname,
// /etc/hosts, /dev/shm, /run and System V objects, and an ssh daemon that lets
// the others in. A bridge joins them. Links can be cut and joined again, and a
// link can be a wire that delays, drops, duplicates and reorders. Tests of several hosts in launch, fabric/tcp, coll,
// boot/joined, mpi, examples and deploy use it. It needs Linux, root's rights, ssh, iproute2 and nftables.
//
// Host i is called host0, host1, ... and has the addresses 10.99.0.(1+i) and
// fd99::(1+i); none of it can be seen from outside, so tests of several packages
// run at the same time. File system and process ids are those of the machine:
// a program of one host finds files of another, and can be killed from outside.
//
// Namespaces have no name outside: they end with the last process in them.
// A warden process holds a pipe from the test. When the test cleans up, or its
// binary is killed, the pipe closes, and the warden kills all processes in the
// namespaces and removes the files.
//
// The trap: a program on a host starts in the directory of the test, but with
// the host's own mounts: it does not see files that the test wrote to /run or
// /dev/shm.
package hosttest
