package sys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// pairSeals keep a memory file as long as it is: who maps it gets no SIGBUS, whatever others do.
const pairSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// PairFile makes an anonymous memory file of size zero bytes, which nobody can make shorter, for another process
// to find it by OpenPairFile.
func PairFile(name string, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), "memfd:"+name)
	err = f.Truncate(size)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, pairSeals)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("memfd %s of %d bytes: %w", name, size, err)
	}
	return f, nil
}

// OpenPairFile opens what descriptor fd of process pid refers to, if that is a file of PairFile with size bytes
// which is of this user. It opens nothing else, since to open a device or a pipe may have effects.
func OpenPairFile(pid, fd int, size int64) (*os.File, error) {
	name := fmt.Sprintf("descriptor %d of process %d", fd, pid)
	at, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open of %s: %w", name, err)
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(at, &fs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int64(fs.Type) != unix.TMPFS_MAGIC || st.Size != size || int(st.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s is no memory file of this user with %d bytes", name, size)
	}
	own, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", at), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open of %s: %w", name, err)
	}
	f := os.NewFile(uintptr(own), name)
	if seals, err := unix.FcntlInt(uintptr(own), unix.F_GET_SEALS, 0); err != nil || seals&pairSeals != pairSeals {
		f.Close()
		return nil, errors.Join(fmt.Errorf("%s can be made shorter", name), err)
	}
	return f, nil
}
