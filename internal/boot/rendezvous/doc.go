// Package rendezvous is the job engine of processes that nobody connects: somebody, such as Kubernetes,
// starts each with its rank, the size of the job and the address of rank 0, by environment variables.
//
// Rank 0 listens and stores what the others put. On one host it is a Unix socket, and the kernel tells whose
// the processes are. Between hosts it is a TCP port, and both sides prove that they know a secret, which
// somebody has given to all of them in a file.
package rendezvous
