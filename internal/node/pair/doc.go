// Package pair makes the memory that two processes of different jobs on one node share
// (shmfmt.Pair), and hands it from one to the other over the connection between them. Package fabric/tcp, which has the
// connection, calls Offer and Take; fabric/shm uses the memory for rings, and rma for windows (Block).
//
// The process that has opened the connection makes the memory, and sends the process id and the
// descriptor by which the other one finds it in /proc. The other one checks that it is a memory file
// of the own user, of the right size, that cannot shrink, and that it contains the mark of the offer.
// So a process id that means another process here, because the sender is in another pid namespace,
// does no harm. Then both close their descriptors.
//
// Rejected: to pass the descriptor over a Unix socket, which each process would have to serve, with
// limits for callers as those of package fabric/tcp. The kernel lets a process open the files of
// another one in /proc under weaker conditions than it lets it read the memory of that process.
//
// Half a round trip of 8 bytes to a process of another job takes 0.29 us through it (docs/performance.md, "across jobs").
//
// The trap: there may be no such memory, and that is no error. Offer and Take return why as a reason beside failed,
// which is an error of the connection; without memory the frames of the pair travel on the connection.
package pair
