package mpi

// TagUB is the largest tag that messages on the communicator may carry.
//
// C: attribute MPI_TAG_UB, section 9.1.2.
func (c *Comm) TagUB() int { return maxTag }

// Host is the rank of the host process. It is always ProcNull, because Halo has no host process.
//
// C: attribute MPI_HOST, section 9.1.2.
func (c *Comm) Host() int { return ProcNull }

// IO is the rank of a process that can do I/O. It is always AnySource, because all processes
// can.
//
// C: attribute MPI_IO, section 9.1.2.
func (c *Comm) IO() int { return AnySource }

// WtimeIsGlobal reports whether the clocks of Wtime are synchronized between processes. It is
// always false.
//
// C: attribute MPI_WTIME_IS_GLOBAL, section 9.1.2.
func (c *Comm) WtimeIsGlobal() bool { return false }

// UniverseSize is the number of processes for which there is room, those of the job included, when the process
// was started. Under halo run it is the number of slots of the hosts; hosts that are given without a number have
// as many as cores, or as ranks of the job if these are more. Among ranks that are goroutines it is the size of
// the job. It is -1 if a job engine does not say; in C the attribute is not set then.
//
// C: attribute MPI_UNIVERSE_SIZE, section 11.10.1.
func (c *Comm) UniverseSize() int {
	j := c.w.Proc.Job()
	if j.Universe == 0 {
		return j.Size
	}
	return j.Universe
}

// AppNum is the number of the program that this process runs, among the programs that the job
// was started with, counted from 0 in the order of the command line. It is -1 if a job engine does not say; in
// C the attribute is not set then.
//
// C: attribute MPI_APPNUM, section 11.10.3.
func (c *Comm) AppNum() int { return c.w.Proc.Job().AppNum }
