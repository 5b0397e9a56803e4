// Package rendezvous is the job engine of processes that nobody connects: somebody, such as Kubernetes,
// starts each with its rank, the size of the job and the address of rank 0, by environment variables. Package joined
// opens it, and it is an engine.Client like the others.
//
// Rank 0 listens and stores what the others put. On one host it is a Unix socket, and the kernel tells whose
// the processes are. Between hosts it is a TCP port, and both sides prove that they know a secret, which
// somebody has given to all of them in a file.
//
// The trap: the server is a part of rank 0, and ends with it. Rank 0 says before whether it may (Leave); if it ends
// without having said so, that is a failure for all others, as with a server that is killed (Lost).
package rendezvous
