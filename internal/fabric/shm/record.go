package shm

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// makeRecords allocates the records of the processes of the node. Where the rings are mapped memory the
// records are outside of the Go heap, so that C can use them. Records of processes without messages take
// no memory there. Records that point to rings on the Go heap must be on the Go heap, too.
func (f *Fabric) makeRecords() {
	n := len(f.members)
	if !f.mapped() {
		f.records = make([]shmfmt.PeerRecord, n)
		return
	}
	mem := offheap.OwnedBytes(f, n*shmfmt.PeerRecordSize)
	f.records = unsafe.Slice((*shmfmt.PeerRecord)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}

// mapped reports whether the rings are mapped memory, and the records memory of package offheap.
func (f *Fabric) mapped() bool { return f.node.Name() == "shm" && !sys.Race }

// Record returns the record of a process of the node that is another one than this process.
func (f *Fabric) Record(peer int) *shmfmt.PeerRecord { return &f.records[f.local[peer]] }

// Records returns the address of the records, by local index, for code in C; nil where C must not use them.
func (f *Fabric) Records() unsafe.Pointer {
	if !f.mapped() {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(f.records))
}
