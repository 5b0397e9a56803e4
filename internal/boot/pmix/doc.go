// Package pmix is a client of PMIx, which Open MPI's mpirun, PRRTE and Slurm (srun --mpi=pmix) serve
// to the processes that they start. It is written from the protocol of the servers and does not use
// their library. Package joined opens it, and it is an engine.Client like the others.
//
// The server is a process of the engine on the same node; the environment has its TCP address (ReadPlace). After
// a handshake both send messages with a header (see pack). The client chooses a tag for each request,
// and the answer has the same tag. A message with a lower tag than any request has is an event, which
// this client drops. Messages are arrays of typed items: see buffer and reader.
//
// Of the many versions of the protocol this client uses serializer 41, which servers from version 4.1
// on offer, or else serializer 21, which servers from version 2.1 on offer. (Open MPI 6 answers a client
// of serializer 21 that it cannot describe the job, because 21 lacks the type of distances to devices.)
// The client gets values in answers, and does not read the servers' shared memory, whose layout changes
// between versions.
//
// The trap: the same item has another encoding in the other serializer, and the encoding is specified nowhere
// but in the servers. A change needs recorded answers of both (testdata) and the servers of docs/engines.md.
package pmix
