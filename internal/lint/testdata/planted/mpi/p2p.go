package mpi

// Send sends.
//
// C: MPI_Send, section 3.2.1.
func Send(any) {}

func Recv(any) {} // want docs "Recv is exported and has no comment"

// Probe probes. C: MPI_Probe, section 3.8.1.
func Probe() {} // want docs "the comment of Probe does not end with"

// Test tests.
//
// C: MPI_Test and MPI_Request_free, sections 3.7.3 and 3.7.9.
func Test() {}

// Wait names no section.
//
// C: MPI_Wait.
func Wait() {} // want docs "the comment of Wait"

// Sendrecv goes on after the citation.
//
// C: MPI_Sendrecv, section 3.10.
//
// And on.
func Sendrecv() {} // want docs "the comment of Sendrecv"

// RecvSlice sizes itself.
//
// C: none; a C caller allocates first.
func RecvSlice() {}

// Main is short.
//
// C: none.
func Main() {} // want docs "the comment of Main"

func unexported() {}

// Comm is a communicator.
//
// C: MPI_Comm, section 7.2.3.
type Comm struct{}

// Rank is the rank.
//
// C: MPI_Comm_rank, section 7.4.1.
func (c *Comm) Rank() int { return 0 }

func (c *Comm) Size() int { return 0 } // want docs "Comm.Size is exported"

// String is Go's own.
func (c *Comm) String() string { return "" }

type inner[T any] struct{}

func (inner[T]) Exported() {}

// Win is generic.
type Win[T any] struct{} // want docs "the comment of Win"

// Put puts.
func (w *Win[T]) Put() {} // want docs "the comment of Win.Put"

// Wildcards.
//
// C: MPI_ANY_SOURCE and MPI_ANY_TAG, section 3.2.4.
const (
	AnySource = -1
	AnyTag    = -2
)

// Classes.
//
// C: MPI_ERR_TRUNCATE and so on, sections 9.4 and A.1.1.
const ErrTruncate = 15

const (
	ProcNull = -3 // ProcNull is nobody. want docs "the comment of ProcNull"
	hidden   = 1

	Undefined = -32766 // C: MPI_UNDEFINED, section 7.4.1.
)

// TagUB is an attribute.
//
// C: attribute MPI_TAG_UB, section 9.1.2.
func TagUB() {}

// Tags names no function.
//
// C: attribute, section 9.1.2.
func Tags() {} // want docs "the comment of Tags"

// PutNotify is not the standard's.
//
// C: MPIX_Put_notify and MPIX_Put_notify_c, extensions; see docs/extensions.md.
func PutNotify() {}

// Order is the standard's, whatever it says.
//
// C: MPI_Win_order, an extension.
func Order() {} // want docs "the comment of Order"
