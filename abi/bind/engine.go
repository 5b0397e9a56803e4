package bind

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/mpi"
)

// engine holds the functions of package mpi that serve bindings of other languages and that
// the package does not export. Package mpi documents each of them.
var engine = unexported.Get[interface {
	// Before Init.
	NameCalls(name func(by call.Number, name string) string)
	DescribeErrors(describe func(e *mpi.Error))
	LocateCalls(l callsite.Locator)
	LockedThreads(several bool, places int, watchdog proc.Watchdog)
	OnFault(f func(address uintptr))
	OnLeave(leavers *atomic.Uint32, leave func(now bool) bool)
	Environment(lookup func(name string) string)
	FortranSizes(logical, integer, real, doublePrecision int) error
	InitErrhandler(h mpi.Errhandler) (*mpi.Comm, error)
	FirstErrhandler(h mpi.Errhandler)
	ProcessComm() *mpi.Comm
	FreeSlots(c *mpi.Comm) (int, error)
	Spawn(c *mpi.Comm, root int, multiple bool, commands []mpi.Command, bad string) (*mpi.Comm, []error, error)

	// Records that compiled code reads, and functions through which it enters Go.
	Layouts() shmfmt.Layouts
	CommDescriptor(c *mpi.Comm) uintptr
	MessageDescriptor(c *mpi.Comm) uintptr
	CloseMessages(c *mpi.Comm)
	WakeLocal(c *mpi.Comm, local int, room bool)
	AfterLock(w *mpi.Window, rank int, wake, unlock bool)
	WinDescriptor(w *mpi.Window) uintptr
	FileDescriptor(f *mpi.File) uintptr
	ShareType(d mpi.Datatype, record *shmfmt.Type) bool
	ShareProgram(d mpi.Datatype, record *shmfmt.Type)
	UnshareType(d mpi.Datatype, record *shmfmt.Type)
	Kernel(o mpi.Op, d mpi.Datatype) uintptr
	Operand(d mpi.Datatype) (op.Type, dtype.Code)
	DefinedOn(o mpi.Op, d mpi.Datatype) bool
	Reduce(c *mpi.Comm, send, recv []byte, o mpi.Op, t op.Type, code dtype.Code, root int) error
	Allreduce(c *mpi.Comm, send, recv []byte, o mpi.Op, t op.Type, code dtype.Code) error
	Await(c *mpi.Comm, word *atomic.Uint64, n uint64) error
	Ring(c *mpi.Comm)
	Balance(c *mpi.Comm)
	Disagreement(c *mpi.Comm, last bool) error
	Send(c *mpi.Comm, b []byte, code dtype.Code, dest, tag int) error
	Recv(c *mpi.Comm, b []byte, code dtype.Code, source, tag int) (mpi.Status, error)
	Isend(c *mpi.Comm, b []byte, code dtype.Code, dest, tag int) mpi.Request
	Irecv(c *mpi.Comm, b []byte, code dtype.Code, source, tag int) mpi.Request
	Sendrecv(c *mpi.Comm, send []byte, sent dtype.Code, dest, sendTag int, recv []byte, received dtype.Code, source, recvTag int) (mpi.Status, error)
	CompletedRequest(c *mpi.Comm) mpi.Request
	SentRequest(c *mpi.Comm, number uint32) mpi.Request
	ReceivedRequest(c *mpi.Comm, number uint32) (q mpi.Request, ok bool)

	// Arguments and callbacks.
	Degrees(c *mpi.Comm) (in, out int)
	Raise(h mpi.Errhandler, e *mpi.Error) error
	PsetGroup(s *mpi.Session, name string) (g mpi.Group, found bool, err error)
	LiveObjects(s *mpi.Session) ([]*mpi.Comm, []*mpi.Window)
	InSession(c *mpi.Comm) bool
	RaiseFile(c *mpi.Comm, e *mpi.Error) error
	FileClosed(f *mpi.File) bool
	Origin(b mpi.Buffer) uintptr
	BufError(cl mpi.Class, format string, args ...any) mpi.Buffer
	PackTo(c *mpi.Comm, dst []byte, p unsafe.Pointer, count int, d mpi.Datatype) int
	UnpackFrom(c *mpi.Comm, src []byte, p unsafe.Pointer, count int, d mpi.Datatype) int
	WinFromMemhandle(parent *mpi.Window, handle []byte, size int64, unit, target int, info *mpi.Info) (*mpi.Window, error)
	OfNone(c *mpi.Comm) *mpi.Comm
	ClosePort(c *mpi.Comm, name string) error
	AcceptAt(name string, info *mpi.Info, c *mpi.Comm, root int) (*mpi.Comm, error)
	ConnectTo(name string, info *mpi.Info, c *mpi.Comm, root int) (*mpi.Comm, error)
	JoinFD(c *mpi.Comm, fd int) (*mpi.Comm, error)
	PublishName(c *mpi.Comm, service, name string) error
	UnpublishName(c *mpi.Comm, service, name string) error
	DupWithInfo(c *mpi.Comm, info *mpi.Info) (*mpi.Comm, error)
	IdupWithInfo(c *mpi.Comm, info *mpi.Info) (*mpi.Comm, mpi.Request)
	WinDup(w *mpi.Window) (*mpi.Window, error)
	WinDupWithInfo(w *mpi.Window, info *mpi.Info) (*mpi.Window, error)
	OfThread(w *mpi.Window, number func() int) *mpi.Window
	InCalls(o mpi.Op) mpi.Op
	In(o mpi.Op, e op.Env) mpi.Op
	InLogicals(o mpi.Op) mpi.Op
	Handle(d mpi.Datatype) uintptr
	SetHandle(d mpi.Datatype, h uintptr)
	Permanent(d mpi.Datatype) bool
	LargeContents(d mpi.Datatype) (mpi.Contents, error)
}]()
