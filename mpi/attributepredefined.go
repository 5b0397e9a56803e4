package mpi

// TagUB is the largest tag that messages on the communicator may carry.
//
// C: attribute MPI_TAG_UB, section 9.1.2.
func (c *Comm) TagUB() int { return maxTag }

// Host is the rank of the process that is the host of the others: ProcNull,
// there is none.
//
// C: attribute MPI_HOST, section 9.1.2.
func (c *Comm) Host() int { return ProcNull }

// IO is the rank of a process that can read and write files: AnySource, all can.
//
// C: attribute MPI_IO, section 9.1.2.
func (c *Comm) IO() int { return AnySource }

// WtimeIsGlobal reports whether Wtime counts from the same moment in all
// processes: it does not.
//
// C: attribute MPI_WTIME_IS_GLOBAL, section 9.1.2.
func (c *Comm) WtimeIsGlobal() bool { return false }

// UniverseSize is how many processes can run in all: those of the job, to which
// none can be added yet.
//
// C: attribute MPI_UNIVERSE_SIZE, section 11.10.1.
func (c *Comm) UniverseSize() int { return c.w.Proc.Job().Size }

// AppNum tells which of the programs that the job was started from this process
// runs, in the order of the command line, from 0.
//
// C: attribute MPI_APPNUM, section 11.10.3.
func (c *Comm) AppNum() int { return c.w.Proc.Job().AppNum }
