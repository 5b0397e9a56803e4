package mpi

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// The info keys of files that have an effect.
const (
	keyFilePerm   = "file_perm"
	keyCbNodes    = "cb_nodes"
	keyCbBuffer   = "cb_buffer_size"
	keyReadBuffer = "ind_rd_buffer_size"
	keySieveRead  = "romio_ds_read"
	keyCbRead     = "romio_cb_read"
	keyCbWrite    = "romio_cb_write"
	keyCollective = "collective_buffering"
	keyNoIndep    = "romio_no_indep_rw" // the program makes no independent accesses
	keyStyle      = "access_style"
	keyFilename   = "filename"
)

// FileHint is a hint for a file: FilePerm, CbNodes, CbBufferSize, AccessStyle, AssertMemoryAllocKinds, or
// an *Info with the keys of hints. OpenFile, SetView and SetInfo take them. All members pass the same
// hints; in collective accesses those of rank 0 count. The file that the environment variable
// ROMIO_HINTS names has hints for all files, of which those count that the program does not give.
//
// C: MPI_Info, section 14.2.8.
type FileHint interface{ fileHint(o *fileOptions) }

// fileOptions is the hints for a file.
type fileOptions struct {
	file.Hints
	kinds *string // see commOptions
}

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

// AccessStyle says how the program accesses the file: a list of read_once, write_once, read_mostly,
// write_mostly, sequential, reverse_sequential and random. The kernel reads ahead farther for
// sequential, and not at all for random. The others have no effect.
//
// C: info key access_style, section 14.2.8.
type AccessStyle string

func (v FilePerm) fileHint(o *fileOptions) { o.Perm = uint32(v) & 0o777 }

func (v CbNodes) fileHint(o *fileOptions) {
	if v >= 0 {
		o.CbNodes = int(v)
	}
}

func (v CbBufferSize) fileHint(o *fileOptions) {
	if v > 0 {
		o.CbBuffer = min(int(v), 1<<30)
	}
}

func (v AccessStyle) fileHint(o *fileOptions) {
	style, ok := file.Ordinary, true
	for _, item := range items(string(v)) {
		switch item {
		case "read_once", "write_once", "read_mostly", "write_mostly", "reverse_sequential":
		case "sequential":
			style = max(style, file.Sequentially)
		case "random":
			style = file.Randomly
		default:
			ok = false
		}
	}
	if ok {
		o.Style = style
		o.Keep(keyStyle, string(v))
	}
}

func (v AssertMemoryAllocKinds) fileHint(o *fileOptions) { o.kinds = (*string)(&v) }

// fileHint applies the keys of the Info that are known for files and have valid values.
func (i *Info) fileHint(o *fileOptions) {
	number := func(key string, base int, set func(n int)) {
		v, _ := i.Get(key)
		if n, err := strconv.ParseInt(v, base, 32); err == nil && n >= 0 {
			set(int(n))
		}
	}
	number(keyFilePerm, 8, func(n int) { FilePerm(n).fileHint(o) })
	number(keyCbNodes, 10, func(n int) { CbNodes(n).fileHint(o) })
	number(keyCbBuffer, 10, func(n int) { CbBufferSize(n).fileHint(o) })
	number(keyReadBuffer, 10, func(n int) {
		if n > 0 {
			o.ReadBuffer = n
		}
	})
	v, _ := i.Get(keyCollective)
	if use, ok := boolean(v); ok {
		o.CbRead, o.CbWrite = file.Automatic, file.Automatic
		if !use {
			o.CbRead, o.CbWrite = file.Disable, file.Disable
		}
		o.Keep(keyCollective, v)
	}
	for _, c := range []struct {
		key string
		to  *file.Choice
	}{{keySieveRead, &o.Sieve}, {keyCbRead, &o.CbRead}, {keyCbWrite, &o.CbWrite}} { // after collective_buffering: they say more
		v, _ := i.Get(c.key)
		for choice, name := range choiceNames() {
			if strings.EqualFold(v, name) { // programs for ROMIO may also write ENABLE
				*c.to = file.Choice(choice)
			}
		}
	}
	v, _ = i.Get(keyNoIndep)
	if _, ok := boolean(v); ok {
		o.Keep(keyNoIndep, v)
	}
	if v, found := i.Get(keyStyle); found {
		AccessStyle(v).fileHint(o)
	}
	if v, found := i.Get(keyAssertKinds); found {
		AssertMemoryAllocKinds(v).fileHint(o)
	}
	for _, k := range keptKeys() {
		if v, found := i.Get(k.name); found && k.valid(v) {
			o.Keep(k.name, v)
		}
	}
}

// choiceNames are the values of hints that are a file.Choice.
func choiceNames() [3]string { return [3]string{"automatic", "enable", "disable"} }

// with applies hints. As in ROMIO members gather if the program makes no independent accesses, whatever other hints
// say, wherever they come from.
func (o *fileOptions) with(list []FileHint) {
	for _, x := range list {
		if x != nil {
			x.fileHint(o)
		}
	}
	if only, _ := boolean(o.Kept[keyNoIndep]); only {
		o.CbRead, o.CbWrite = file.Enable, file.Enable
	}
}

// setHints changes the hints of the file.
func (f *File) setHints(list []FileHint) {
	o := fileOptions{Hints: f.f.Hints()}
	o.with(list)
	f.f.SetHints(o.Hints)
	f.c.asserted.set(o.kinds, f.c.self.kinds)
}

// SetInfo changes hints of the file; see FileHint. It is collective over the file, and all members pass
// the same hints, but it does not communicate.
//
// C: MPI_File_set_info, section 14.2.8.
func (f *File) SetInfo(list ...FileHint) error {
	if err := f.usable(call.FileSetInfo); err != nil {
		return err
	}
	checkKeys(f.c, call.FileSetInfo, list...)
	f.setHints(list)
	return nil
}

// Info returns the hints of the file that have an effect, with the values that were set or else the
// defaults, those of other keys that Halo knows if they were set, the path as key filename, and the
// kinds of memory that are supported, or asserted.
//
// C: MPI_File_get_info, section 14.2.8.
func (f *File) Info() (*Info, error) {
	if err := f.usable(call.FileGetInfo); err != nil {
		return nil, err
	}
	h := f.f.Hints()
	list := [][2]string{
		{keyFilePerm, strconv.FormatUint(uint64(h.Perm), 8)},
		{keyCbNodes, strconv.Itoa(h.CbNodes)},
		{keyCbBuffer, strconv.Itoa(h.CbBuffer)},
		{keyReadBuffer, strconv.Itoa(h.ReadBuffer)},
		{keySieveRead, choiceNames()[h.Sieve]},
		{keyCbRead, choiceNames()[h.CbRead]},
		{keyCbWrite, choiceNames()[h.CbWrite]},
	}
	if path := f.Path(); len(path) <= MaxInfoVal {
		list = append(list, [2]string{keyFilename, path})
	}
	for _, key := range slices.Sorted(maps.Keys(h.Kept)) {
		list = append(list, [2]string{key, h.Kept[key]})
	}
	i := NewInfo()
	for _, p := range append(list, f.c.asserted.pairs(f.c.self.kinds)...) {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}
