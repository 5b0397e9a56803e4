// Package part is the semantics of partitioned communication (MPI-5, chapter 4), written once over all fabrics:
// persistent sends whose memory becomes ready in partitions, one by one, and receives that can be asked for each
// partition. Package world opens an Engine, and package mpi calls it.
//
// Matching: the initialization of a send announces it to the receiver (PartInit), which matches it with its receives in
// the order of initialization, in a table of its own, and answers (PartMatch). Sends and receives that have matched stay
// together until they are freed; neither side searches again.
//
// Rounds: each start is a round. Both sides count their rounds, and bytes of round n go to the receiver only after the
// receiver has started round n. A partition that is ready before that is a bit at the sender. The number of partitions
// of the two sides is independent: what travels is a range of bytes of the packed message, and the receiver counts the
// bytes that arrive for each of its partitions. The counts grow from round to round, so that nothing is reset at a start.
//
// On a node the receiver has a control block in memory that the sender maps (shmfmt.Partitions). Who marks a partition as
// ready finds there whether the round is open, copies the partition to the receiver's buffer, if it is mapped, or to
// memory of the receiver beside it (stage.go), or by the kernel, and adds to the counts. That takes no lock and no
// frame. Only the last partition of a round takes the engine's lock, to complete the request of the send, and rings the
// receiver if it sleeps. In all other cases starts and partitions are frames (PartStart, PartData), and neighbours travel
// in one.
//
// A message of 64 partitions of 4 KiB that one goroutine fills takes 3.8 us into memory of AllocMem, and 23 us into other
// memory (docs/performance.md, "partitioned").
//
// The trap: functions that mark partitions run without the engine's lock, in several goroutines at once, and may be late
// by a round. All other functions are called with the lock held, unless the comment says that they need none.
package part
