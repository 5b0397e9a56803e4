// Package part is the semantics of partitioned communication (MPI-5, chapter 4), written once
// over all fabrics: persistent sends whose memory becomes ready in partitions, one by one, and
// receives that can be asked for each partition.
//
// # Matching
//
// The initialization of a send announces it to the receiver (PartInit), which matches it with its
// receives in the order of initialization, in a table of its own, and answers (PartMatch). Sends
// and receives that have matched stay together until they are freed; neither side searches again.
//
// # Rounds
//
// Each start is a round. Both sides count their rounds, and bytes of round n go to the receiver
// only after the receiver has started round n. A partition that is ready before that is a bit at
// the sender. The number of partitions of the two sides is independent: what travels is a range of
// bytes of the packed message, and the receiver counts the bytes that arrive for each of its
// partitions. The counts grow from round to round, so that nothing is reset at a start.
//
// # The direct way
//
// The receiver of a process of the same node has a control block in memory that the sender maps
// (shmfmt.Partitions). Who marks a partition as ready finds there whether the round is open, copies
// the partition to the receiver's buffer, if it is mapped, or to memory of the receiver beside it
// (stage.go), or by the kernel, and adds to the counts. That takes no lock and no frame, so
// goroutines do not wait for each other. Only the last partition of a round takes the engine's
// lock, to complete the request of the send, and rings the receiver if it sleeps.
//
// # Frames
//
// In all other cases the receiver says that it has started a round (PartStart), and ready
// partitions travel in PartData frames. The first goroutine that marks a partition waits for the
// lock; those that mark others meanwhile leave them to it, so that neighbours travel in one frame.
//
// The caller of a function holds the engine's lock, unless the comment says that it needs none.
package part
