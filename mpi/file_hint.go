package mpi

import (
	"os"
	"strconv"

	"github.com/halo-mpi/halo/internal/file"
)

// The info keys of files.
const (
	keyFilePerm   = "file_perm"
	keyCbNodes    = "cb_nodes"
	keyCbBuffer   = "cb_buffer_size"
	keyReadBuffer = "ind_rd_buffer_size"
	keySieveRead  = "romio_ds_read"
	keyCbRead     = "romio_cb_read"
	keyCbWrite    = "romio_cb_write"
)

// FileHint is a hint for a file: FilePerm, CbNodes, CbBufferSize, or an *Info with the keys of
// hints. OpenFile, SetView and SetInfo take them. All members pass the same hints; in collective accesses
// those of rank 0 count.
//
// C: MPI_Info, section 14.2.8.
type FileHint interface{ fileHint(h *file.Hints) }

// FilePerm is the permission of a file that OpenFile creates, as for os.OpenFile. The default is 0666,
// less what the umask removes.
//
// C: info key file_perm, section 14.2.8.
type FilePerm os.FileMode

// CbNodes is how many members make the system calls of collective accesses for all. The default is 0:
// Halo chooses.
//
// C: info key cb_nodes, section 14.2.8.
type CbNodes int

// CbBufferSize is the number of bytes that each of these members gathers before it makes a call. The
// default is 4 MiB.
//
// C: info key cb_buffer_size, section 14.2.8.
type CbBufferSize int

func (v FilePerm) fileHint(h *file.Hints) { h.Perm = uint32(v) & 0o777 }

func (v CbNodes) fileHint(h *file.Hints) {
	if v >= 0 {
		h.CbNodes = int(v)
	}
}

func (v CbBufferSize) fileHint(h *file.Hints) {
	if v > 0 {
		h.CbBuffer = min(int(v), 1<<30)
	}
}

// fileHint applies the keys of the Info that are known for files and have valid values.
func (i *Info) fileHint(h *file.Hints) {
	number := func(key string, base int, set func(n int)) {
		v, _ := i.Get(key)
		if n, err := strconv.ParseInt(v, base, 32); err == nil && n >= 0 {
			set(int(n))
		}
	}
	number(keyFilePerm, 8, func(n int) { FilePerm(n).fileHint(h) })
	number(keyCbNodes, 10, func(n int) { CbNodes(n).fileHint(h) })
	number(keyCbBuffer, 10, func(n int) { CbBufferSize(n).fileHint(h) })
	number(keyReadBuffer, 10, func(n int) {
		if n > 0 {
			h.ReadBuffer = n
		}
	})
	if v, _ := i.Get(keySieveRead); v == "disable" || v == "enable" || v == "automatic" {
		h.SieveReads = v != "disable"
	}
	for key, c := range map[string]*file.Choice{keyCbRead: &h.CbRead, keyCbWrite: &h.CbWrite} {
		v, _ := i.Get(key)
		for choice, name := range choiceNames() {
			if v == name {
				*c = file.Choice(choice)
			}
		}
	}
}

// choiceNames are the values of hints that are a file.Choice.
func choiceNames() [3]string { return [3]string{"automatic", "enable", "disable"} }

func applyFileHints(h *file.Hints, list []FileHint) {
	for _, x := range list {
		if x != nil {
			x.fileHint(h)
		}
	}
}

// SetInfo changes hints of the file; see FileHint. It is collective over the file, and all members pass
// the same hints, but it does not communicate.
//
// C: MPI_File_set_info, section 14.2.8.
func (f *File) SetInfo(list ...FileHint) error {
	if err := f.usable(callSetInfo); err != nil {
		return err
	}
	checkKeys(f.c, callSetInfo, list...)
	h := f.f.Hints()
	applyFileHints(&h, list)
	f.f.SetHints(h)
	return nil
}

// Info returns all known hints of the file, with the values that were set or else the defaults.
//
// C: MPI_File_get_info, section 14.2.8.
func (f *File) Info() (*Info, error) {
	if err := f.usable(callGetInfo); err != nil {
		return nil, err
	}
	h := f.f.Hints()
	sieve := choiceNames()[file.Disable]
	if h.SieveReads {
		sieve = choiceNames()[file.Automatic]
	}
	i := NewInfo()
	for _, p := range [][2]string{
		{keyFilePerm, strconv.FormatUint(uint64(h.Perm), 8)},
		{keyCbNodes, strconv.Itoa(h.CbNodes)},
		{keyCbBuffer, strconv.Itoa(h.CbBuffer)},
		{keyReadBuffer, strconv.Itoa(h.ReadBuffer)},
		{keySieveRead, sieve},
		{keyCbRead, choiceNames()[h.CbRead]},
		{keyCbWrite, choiceNames()[h.CbWrite]},
		{keyAllocKinds, f.c.self.kinds},
	} {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}
