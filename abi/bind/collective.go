package bind

import (
	"math"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// The functions of this file convert the arguments of collectives in C to those of package
// mpi. MPI_IN_PLACE becomes the memory that it stands for: the other Buffer, or the caller's
// own block of it. Arguments that are significant at the root only are ignored elsewhere,
// where they may have any value: addresses are not dereferenced, and Buffers of invalid
// handles are not used.
//
// On an intercommunicator there are as many blocks as the remote group has members. The root
// passes MPI_ROOT, and the other members of its group pass MPI_PROC_NULL.
//
// A member detects that the data it sends to itself differs in size from the data it
// receives from itself, and that its two buffers are the same without MPI_IN_PLACE. Such
// arguments become Buffers with that error, which package mpi raises like its own errors.

// noInPlace is the Buffer with the error of MPI_IN_PLACE on an intercommunicator.
func noInPlace() mpi.Buffer {
	return engine.BufError(mpi.ErrBuffer, "MPI_IN_PLACE on an intercommunicator")
}

// alone is the Buffer of a member that sends or receives one block on an intercommunicator.
func (l *Lib) alone(address uintptr, count int, d mpi.Datatype) mpi.Buffer {
	if address == inPlace {
		return noInPlace()
	}
	return l.buf(address, count, d)
}

// at returns the address of an element of an array of a type.
func at(address uintptr, element int, d mpi.Datatype) uintptr {
	if d.IsNull() {
		return address
	}
	_, extent, _ := d.Extent() // no error, since the type is not null
	return address + uintptr(element*extent)
}

// times returns n*count. A negative count stays negative, and an overflow becomes
// math.MaxInt, so that the check of the Buffer reports either.
func times(n, count int) int {
	switch {
	case count < 0:
		return count
	case n == 0: // of a type without data
	case count > math.MaxInt/n:
		return math.MaxInt
	}
	return n * count
}

// side describes one block that a member sends or receives.
type side struct {
	address uintptr
	count   int
	d       mpi.Datatype
}

// bytes returns the size of a block, if type and count are valid.
func (s side) bytes() (n int, ok bool) {
	if s.d.IsNull() || s.count < 0 {
		return 0, false
	}
	size, _ := s.d.Size() // no error, since the type is not null
	return times(size, s.count), true
}

// elements returns the Buffer of n such blocks.
func (l *Lib) elements(s side, n int) mpi.Buffer { return l.buf(s.address, times(n, s.count), s.d) }

// block returns the block of a rank, where s is the block of rank 0.
func (s side) block(rank int) side {
	s.address = at(s.address, rank*s.count, s.d)
	return s
}

// own compares the block that the caller sends to itself with the block that it receives
// from itself. It returns whole, the Buffer that contains one of them, or a Buffer with an
// error.
func own(send, recv side, whole mpi.Buffer) mpi.Buffer {
	s, known := send.bytes()
	r, too := recv.bytes()
	switch {
	case !known || !too:
	case s != r:
		return engine.BufError(mpi.ErrCount, "%d elements of %v, %d bytes, to send to itself, and %d of %v, %d bytes, to receive from itself", send.count, send.d, s, recv.count, recv.d, r)
	case s > 0 && send.address == recv.address && send.d == recv.d:
		return engine.BufError(mpi.ErrBuffer, "send and receive buffer are the same, at address %#x: use MPI_IN_PLACE", send.address)
	}
	return whole
}

// gather is the arguments of MPI_Gather.
func (l *Lib) gather(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype, root int) (send, recv mpi.Buffer, r int) {
	if c.Inter() {
		if root >= 0 {
			return l.alone(sendbuf, sendcount, sendtype), recv, root
		}
		if root == mpi.Root {
			recv = l.elements(side{recvbuf, recvcount, recvtype}, c.RemoteSize())
		}
		return send, recv, root
	}
	if c.Rank() != root {
		return l.buf(sendbuf, sendcount, sendtype), recv, root
	}
	send, recv = l.allgather(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
	return send, recv, root
}

// allgather is the arguments of MPI_Allgather.
func (l *Lib) allgather(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype) (send, recv mpi.Buffer) {
	from, to := side{sendbuf, sendcount, sendtype}, side{recvbuf, recvcount, recvtype}
	if c.Inter() {
		return l.alone(sendbuf, sendcount, sendtype), l.elements(to, c.RemoteSize())
	}
	mine := to.block(c.Rank())
	recv = l.elements(to, c.Size())
	if sendbuf == inPlace {
		return l.elements(mine, 1), recv
	}
	return l.elements(from, 1), own(from, mine, recv)
}

// scatter is the arguments of MPI_Scatter.
func (l *Lib) scatter(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype, root int) (send, recv mpi.Buffer, r int) {
	if c.Inter() {
		if root >= 0 {
			return send, l.alone(recvbuf, recvcount, recvtype), root
		}
		if root == mpi.Root {
			send = l.elements(side{sendbuf, sendcount, sendtype}, c.RemoteSize())
		}
		return send, recv, root
	}
	if c.Rank() != root {
		return send, l.buf(recvbuf, recvcount, recvtype), root
	}
	from, to := side{sendbuf, sendcount, sendtype}, side{recvbuf, recvcount, recvtype}
	mine := from.block(root)
	send = l.elements(from, c.Size())
	if recvbuf == inPlace {
		return send, l.elements(mine, 1), root
	}
	return own(mine, to, send), l.elements(to, 1), root
}

// alltoall is the arguments of MPI_Alltoall.
func (l *Lib) alltoall(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype) (send, recv mpi.Buffer) {
	from, to := side{sendbuf, sendcount, sendtype}, side{recvbuf, recvcount, recvtype}
	if c.Inter() {
		if sendbuf == inPlace {
			return noInPlace(), l.elements(to, c.RemoteSize())
		}
		return l.elements(from, c.RemoteSize()), l.elements(to, c.RemoteSize())
	}
	recv = l.elements(to, c.Size())
	if sendbuf == inPlace {
		return recv, recv
	}
	return l.elements(from, c.Size()), own(from, to, recv)
}

// spread describes blocks of different sizes, at displacements from an address.
type spread struct {
	side           // covers all blocks, from the one with the lowest displacement on
	counts, displs []int
	wrong          *mpi.Buffer
}

// spreadOf reads the counts and displacements of n blocks. It shifts the address and the
// displacements so that the lowest displacement is 0: they may be negative in C.
func (l *Lib) spreadOf(address uintptr, n int, counts, displs array, d mpi.Datatype) spread {
	s := spread{side: side{address, 0, d}, counts: counts.ints(n), displs: displs.ints(n)}
	lo, hi := math.MaxInt, math.MinInt
	for r, k := range s.counts {
		if k != 0 && s.displs == nil {
			b := engine.BufError(mpi.ErrArg, "displacements at %#x, which is no address", displs.given)
			s.wrong = &b
			break
		}
		if k > 0 {
			lo, hi = min(lo, s.displs[r]), max(hi, s.displs[r]+k)
		}
	}
	if lo > hi {
		lo, hi = 0, 0
	}
	for r := range s.displs {
		s.displs[r] -= lo
	}
	s.address, s.count = at(address, lo, d), hi-lo
	return s
}

// buffer returns the Buffer that covers all blocks.
func (l *Lib) buffer(s *spread) mpi.Buffer {
	if s.wrong != nil {
		return *s.wrong
	}
	return l.buf(s.address, s.count, s.d)
}

// part returns the block of a rank.
func (s *spread) part(rank int) side {
	if s.counts == nil || s.displs == nil {
		return side{d: s.d}
	}
	return side{at(s.address, s.displs[rank], s.d), s.counts[rank], s.d}
}

// gatherv is the arguments of MPI_Gatherv.
func (l *Lib) gatherv(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcounts, displs array, recvtype mpi.Datatype, root int) (send, recv mpi.Buffer, counts, places []int, r int) {
	if c.Inter() {
		if root >= 0 {
			return l.alone(sendbuf, sendcount, sendtype), recv, nil, nil, root
		}
		if root == mpi.Root {
			to := l.spreadOf(recvbuf, c.RemoteSize(), recvcounts, displs, recvtype)
			return send, l.buffer(&to), to.counts, to.displs, root
		}
		return send, recv, nil, nil, root
	}
	if c.Rank() != root {
		return l.buf(sendbuf, sendcount, sendtype), recv, nil, nil, root
	}
	send, recv, counts, places = l.allgatherv(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype)
	return send, recv, counts, places, root
}

// allgatherv is the arguments of MPI_Allgatherv.
func (l *Lib) allgatherv(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcounts, displs array, recvtype mpi.Datatype) (send, recv mpi.Buffer, counts, places []int) {
	if c.Inter() {
		to := l.spreadOf(recvbuf, c.RemoteSize(), recvcounts, displs, recvtype)
		return l.alone(sendbuf, sendcount, sendtype), l.buffer(&to), to.counts, to.displs
	}
	from, to := side{sendbuf, sendcount, sendtype}, l.spreadOf(recvbuf, c.Size(), recvcounts, displs, recvtype)
	mine := to.part(c.Rank())
	recv = l.buffer(&to)
	if sendbuf == inPlace {
		return l.elements(mine, 1), recv, to.counts, to.displs
	}
	if to.wrong == nil && to.counts != nil {
		recv = own(from, mine, recv)
	}
	return l.elements(from, 1), recv, to.counts, to.displs
}

// scatterv is the arguments of MPI_Scatterv.
func (l *Lib) scatterv(c *mpi.Comm, sendbuf uintptr, sendcounts, displs array, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype, root int) (send mpi.Buffer, counts, places []int, recv mpi.Buffer, r int) {
	if c.Inter() {
		if root >= 0 {
			return send, nil, nil, l.alone(recvbuf, recvcount, recvtype), root
		}
		if root == mpi.Root {
			from := l.spreadOf(sendbuf, c.RemoteSize(), sendcounts, displs, sendtype)
			return l.buffer(&from), from.counts, from.displs, recv, root
		}
		return send, nil, nil, recv, root
	}
	if c.Rank() != root {
		return send, nil, nil, l.buf(recvbuf, recvcount, recvtype), root
	}
	from, to := l.spreadOf(sendbuf, c.Size(), sendcounts, displs, sendtype), side{recvbuf, recvcount, recvtype}
	mine := from.part(root)
	send = l.buffer(&from)
	if recvbuf == inPlace {
		return send, from.counts, from.displs, l.elements(mine, 1), root
	}
	if from.wrong == nil && from.counts != nil {
		send = own(mine, to, send)
	}
	return send, from.counts, from.displs, l.elements(to, 1), root
}

// alltoallv is the arguments of MPI_Alltoallv.
func (l *Lib) alltoallv(c *mpi.Comm, sendbuf uintptr, sendcounts, sdispls array, sendtype mpi.Datatype, recvbuf uintptr, recvcounts, rdispls array, recvtype mpi.Datatype) (send mpi.Buffer, sc, sd []int, recv mpi.Buffer, rc, rd []int) {
	if c.Inter() {
		to := l.spreadOf(recvbuf, c.RemoteSize(), recvcounts, rdispls, recvtype)
		if sendbuf == inPlace {
			return noInPlace(), nil, nil, l.buffer(&to), to.counts, to.displs
		}
		from := l.spreadOf(sendbuf, c.RemoteSize(), sendcounts, sdispls, sendtype)
		return l.buffer(&from), from.counts, from.displs, l.buffer(&to), to.counts, to.displs
	}
	to := l.spreadOf(recvbuf, c.Size(), recvcounts, rdispls, recvtype)
	recv = l.buffer(&to)
	if sendbuf == inPlace {
		return recv, to.counts, to.displs, recv, to.counts, to.displs
	}
	from := l.spreadOf(sendbuf, c.Size(), sendcounts, sdispls, sendtype)
	send = l.buffer(&from)
	if from.wrong == nil && to.wrong == nil && from.counts != nil && to.counts != nil {
		recv = own(from.part(c.Rank()), to.part(c.Rank()), recv)
	}
	return send, from.counts, from.displs, recv, to.counts, to.displs
}

// alltoallw is the arguments of MPI_Alltoallw. Displacements are in bytes, and each block
// has a type of its own, which may be null if the block is empty.
func (l *Lib) alltoallw(c *mpi.Comm, sendbuf uintptr, sendcounts, sdispls array, sendtypes, recvbuf uintptr, recvcounts, rdispls array, recvtypes uintptr) (send, recv []mpi.Buffer) {
	n := c.Size()
	if c.Inter() {
		n = c.RemoteSize()
	}
	recv = l.pieces(n, recvbuf, recvcounts, rdispls, recvtypes)
	if sendbuf == inPlace {
		return recv, recv
	}
	send = l.pieces(n, sendbuf, sendcounts, sdispls, sendtypes)
	if me := c.Rank(); !c.Inter() {
		from := l.piece(me, sendbuf, sendcounts, sdispls, sendtypes)
		to := l.piece(me, recvbuf, recvcounts, rdispls, recvtypes)
		recv[me] = own(from, to, recv[me])
	}
	return send, recv
}

// pieces returns n Buffers from arrays of counts, displacements in bytes and types.
func (l *Lib) pieces(n int, address uintptr, counts, displs array, types uintptr) []mpi.Buffer {
	list := make([]mpi.Buffer, n)
	for r := range list {
		switch {
		case counts.null():
			list[r] = engine.BufError(mpi.ErrCount, "counts at %#x, which is no address", counts.given)
		case counts.get(r) == 0:
		case displs.null() || pointer(types) == nil:
			list[r] = engine.BufError(mpi.ErrArg, "displacements at %#x and types at %#x, where one is no address", displs.given, types)
		default:
			s := l.piece(r, address, counts, displs, types)
			list[r] = l.buf(s.address, s.count, s.d)
		}
	}
	return list
}

// piece returns the block of a rank. The block has no type if it is empty or one of the
// arrays is missing.
func (l *Lib) piece(rank int, address uintptr, counts, displs array, types uintptr) side {
	d := pointer(types)
	if counts.null() || displs.null() || d == nil || counts.get(rank) == 0 {
		return side{}
	}
	t := l.datatype(*(*handle)(unsafe.Add(d, rank*int(word))))
	return side{address + uintptr(displs.get(rank)), counts.get(rank), t}
}
