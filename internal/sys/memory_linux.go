package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memfd makes an anonymous memory file of size zero bytes. It is sparse: pages take no memory until they
// are used. name is visible in /proc only.
func Memfd(name string, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), "memfd:"+name)
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, fmt.Errorf("memfd %s of %d bytes: %w", name, size, err)
	}
	return f, nil
}

// Map maps the first size bytes of f, shared with all other mappings, for reading and writing.
func Map(f *os.File, size int64) ([]byte, error) {
	b, err := mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes of %s: %w", size, f.Name(), mapped(err))
	}
	return b, nil
}

// mmap is unix.Mmap without its table of all mappings, which takes memory of each rank.
func mmap(fd int, off, size int64, prot, flags int) ([]byte, error) {
	if size <= 0 {
		return nil, unix.EINVAL
	}
	p, err := unix.MmapPtr(fd, off, nil, uintptr(size), prot, flags)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// Unmap undoes Map.
func Unmap(b []byte) error {
	if len(b) == 0 {
		return unix.EINVAL
	}
	return unix.MunmapPtr(unsafe.Pointer(&b[0]), uintptr(len(b)))
}

// Vacate frees the memory of a mapping but keeps its addresses. A later access reads zeros if open is
// true, and faults if not.
func Vacate(b []byte, open bool) error {
	prot := unix.PROT_NONE
	if open {
		prot = unix.PROT_READ | unix.PROT_WRITE
	}
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&b[0]), uintptr(len(b)),
		prot, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

// processBlocks is how many blocks of memory ReadProcess fills by one system call: as many as its callers
// pass, and few enough for the stack.
const processBlocks = 64

// briefCopy is up to how many bytes ReadProcess reads without notifying the Go scheduler: some 5 us, in
// which no other goroutine gets the P. The notification costs a hundredth of that, and a sixth on a busy
// machine, where the scheduler hands the P to another goroutine meanwhile.
const briefCopy = 64 << 10

// ReadProcess fills the slices of dst one after the other with the bytes from address addr of process
// pid. It changes dst. The kernel checks the address in that process, and whether this process may read
// it.
func ReadProcess(pid int, dst [][]byte, addr uint64) error {
	return copyProcess(unix.SYS_PROCESS_VM_READV, pid, dst, addr)
}

// WriteProcess copies the slices of src one after the other to address addr of process pid. It changes
// src. The kernel checks as for ReadProcess.
func WriteProcess(pid int, src [][]byte, addr uint64) error {
	return copyProcess(unix.SYS_PROCESS_VM_WRITEV, pid, src, addr)
}

// CopyTo copies src, which is not empty, to address addr of process pid by one system call, as
// WriteProcess does. It reports whether all of src was copied. It does not notify the Go scheduler: src
// must not be longer than briefCopy.
func CopyTo(pid int, addr uint64, src []byte) bool {
	return copyBlock(unix.SYS_PROCESS_VM_WRITEV, pid, src, addr)
}

// CopyFrom fills dst with the bytes from address addr of process pid. It is the reverse of CopyTo.
func CopyFrom(pid int, dst []byte, addr uint64) bool {
	return copyBlock(unix.SYS_PROCESS_VM_READV, pid, dst, addr)
}

func copyBlock(call uintptr, pid int, here []byte, addr uint64) bool {
	local := unix.Iovec{Base: unsafe.SliceData(here)}
	local.SetLen(len(here))
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(here)}
	n, _, errno := unix.RawSyscall6(call, uintptr(pid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	return errno == 0 && n == uintptr(len(here))
}

func copyProcess(call uintptr, pid int, here [][]byte, addr uint64) error {
	var local [processBlocks]unix.Iovec
	for len(here) > 0 {
		blocks, size := 0, 0
		for _, b := range here[:min(len(here), processBlocks)] {
			local[blocks].Base = unsafe.SliceData(b)
			local[blocks].SetLen(len(b))
			blocks++
			size += len(b)
		}
		if size == 0 {
			here = here[blocks:]
			continue
		}
		remote := unix.RemoteIovec{Base: uintptr(addr), Len: size}
		var n uintptr
		var errno unix.Errno
		if size <= briefCopy {
			n, _, errno = unix.RawSyscall6(call, uintptr(pid),
				uintptr(unsafe.Pointer(&local)), uintptr(blocks), uintptr(unsafe.Pointer(&remote)), 1, 0)
		} else {
			n, _, errno = unix.Syscall6(call, uintptr(pid),
				uintptr(unsafe.Pointer(&local)), uintptr(blocks), uintptr(unsafe.Pointer(&remote)), 1, 0)
		}
		switch {
		case errno == unix.EINTR:
			continue
		case errno != 0:
			return fmt.Errorf("%s of %d bytes, pid %d: %w", processCall(call), size, pid, errno)
		case n == 0:
			return fmt.Errorf("%s of %d bytes, pid %d: nothing was copied", processCall(call), size, pid)
		}
		addr += uint64(n)
		for ; len(here) > 0 && int(n) >= len(here[0]); here = here[1:] {
			n -= uintptr(len(here[0]))
		}
		if n > 0 {
			here[0] = here[0][n:]
		}
	}
	return nil
}

func processCall(call uintptr) string {
	if call == unix.SYS_PROCESS_VM_READV {
		return "process_vm_readv"
	}
	return "process_vm_writev"
}

// Dup returns another descriptor of the same open file, closed on exec.
func Dup(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("dup of %s: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// PhysicalMemory returns how much memory the machine has in bytes.
func PhysicalMemory() uint64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return unknownMemory
	}
	return uint64(s.Totalram) * uint64(s.Unit)
}
