package mpi_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// ERR-15: what the system refuses has its class at all members, and the message names the call, the path and
// the cause. Here are the cases that any machine can show; TestERR15_ClassesOfErrorNumbers has the others.
func TestERR15_ErrorsOfOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ok(t, os.WriteFile(at("file"), nil, 0o600))
	ok(t, os.Symlink("loop", at("loop")))
	ok(t, syscall.Mkfifo(at("pipe"), 0o600))
	l, err := net.Listen("unix", at("socket"))
	ok(t, err)
	defer l.Close()
	busy := running(t, at("busy"))
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, x := range []struct {
			path  string
			mode  mpi.FileMode
			class mpi.Class
			says  string
		}{
			{at("none"), mpi.ModeReadOnly, mpi.ErrNoSuchFile, "no such file or directory (MPI_ERR_NO_SUCH_FILE)"},
			{at("file"), newFile | mpi.ModeExcl, mpi.ErrFileExists, "file exists (MPI_ERR_FILE_EXISTS)"},
			{at("file/x"), newFile, mpi.ErrBadFile, "not a directory (MPI_ERR_BAD_FILE)"},
			{at("loop"), mpi.ModeReadOnly, mpi.ErrBadFile, "too many levels of symbolic links (MPI_ERR_BAD_FILE)"},
			{at(strings.Repeat("x", 300)), newFile, mpi.ErrBadFile, "file name too long (MPI_ERR_BAD_FILE)"},
			{dir, mpi.ModeReadWrite, mpi.ErrBadFile, "is a directory (MPI_ERR_BAD_FILE)"},
			{dir, mpi.ModeReadOnly, mpi.ErrBadFile, "is a directory (MPI_ERR_BAD_FILE)"},
			// What has no offsets; a pipe is not waited for, whoever is at its other end.
			{at("pipe"), mpi.ModeReadOnly, mpi.ErrUnsupportedOperation, "illegal seek (MPI_ERR_UNSUPPORTED_OPERATION)"},
			{at("pipe"), mpi.ModeWriteOnly, mpi.ErrUnsupportedOperation, "illegal seek (MPI_ERR_UNSUPPORTED_OPERATION)"},
			{at("pipe"), mpi.ModeReadWrite, mpi.ErrUnsupportedOperation, "illegal seek (MPI_ERR_UNSUPPORTED_OPERATION)"},
			{at("pipe"), newFile, mpi.ErrUnsupportedOperation, "illegal seek (MPI_ERR_UNSUPPORTED_OPERATION)"},
			{at("socket"), mpi.ModeReadOnly, mpi.ErrUnsupportedOperation, "illegal seek (MPI_ERR_UNSUPPORTED_OPERATION)"},
			{"", newFile, mpi.ErrBadFile, "file name is empty (MPI_ERR_BAD_FILE)"},
			{busy, mpi.ModeReadWrite, mpi.ErrFileInUse, "text file busy (MPI_ERR_FILE_IN_USE)"},
		} {
			f, err := mpi.OpenFile(c, x.path, x.mode)
			wantClass(t, err, x.class)
			if f != nil || err == nil || !strings.Contains(err.Error(), x.path) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v, want %q", err, x.says)
			}
		}
		// A device that has offsets is a file.
		f := openFile(t, c, os.DevNull, mpi.ModeReadWrite)
		_, err := mpi.WriteAt(f, 0, []byte{1})
		ok(t, err)
		ok(t, f.Close())
		wantClass(t, mpi.DeleteFile(c, at("none")), mpi.ErrNoSuchFile)
		wantClass(t, mpi.DeleteFile(c, at("file/x")), mpi.ErrBadFile)
		wantClass(t, mpi.DeleteFile(c, ""), mpi.ErrBadFile)
		wantClass(t, mpi.DeleteFile(c, "ufs:"), mpi.ErrBadFile)
	})
}

// running is the path of a copy of a program that runs until the test ends: the kernel does not let it be written.
func running(t *testing.T, path string) string {
	t.Helper()
	program, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("sleep is missing")
	}
	// Another process writes the copy: a child of this one could hold it open, and the copy could not be run.
	if out, err := exec.Command("cp", program, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(path, "1000")
	ok(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return path
}

// refusalsVariable names the directory of the program below.
const refusalsVariable = "HALO_TEST_REFUSALS"

func init() { linuxPrograms["refusals"] = refusedFiles }

// ERR-15: file systems that are full and read-only, a limit on the size of files, and missing permission have their
// classes. What a call has written until then it tells, and it stays. A program of its own mounts the file
// systems, in a namespace of its own, and becomes another user.
func TestERR15_NoSpaceReadOnlyQuotaAccess(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems, and becomes another user")
	}
	dir := t.TempDir()
	for _, name := range []string{"small", "fixed", "locked"} {
		ok(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	exe, err := os.Executable()
	ok(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), programVariable+"=refusals", refusalsVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skip("the kernel refuses mount namespaces")
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
}

func refusedFiles() error {
	dir := os.Getenv(refusalsVariable)
	small, fixed, locked := filepath.Join(dir, "small"), filepath.Join(dir, "fixed"), filepath.Join(dir, "locked")
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("none", small, "tmpfs", 0, "size=64k"),
		syscall.Mount("none", fixed, "tmpfs", syscall.MS_RDONLY, ""),
	); err != nil {
		return err
	}
	c, err := mpi.Init()
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	full, err := mpi.OpenFile(c, filepath.Join(small, "x"), newFile)
	if err != nil {
		return err
	}
	st, err := mpi.WriteAt(full, 0, buf)
	if err := says(err, mpi.ErrNoSpace, "WriteAt on "+full.Path()+": write of", "no space left on device"); err != nil {
		return err
	}
	if size, err := full.Size(); err != nil || st.Bytes() != size || size == 0 || size > 64<<10 {
		return fmt.Errorf("wrote %d bytes to a file of %d: %v", st.Bytes(), size, err)
	}
	if _, err := mpi.WriteAt(full, 0, buf[:4096]); err != nil { // there is room for what is there
		return err
	}
	if err := says(full.Preallocate(1<<20), mpi.ErrNoSpace, "allocation of 1048576 bytes"); err != nil {
		return err
	}
	_, err = mpi.OpenFile(c, filepath.Join(fixed, "x"), newFile)
	if err := says(err, mpi.ErrReadOnly, "read-only file system"); err != nil {
		return err
	}

	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
		return err
	}
	f, err := mpi.OpenFile(c, filepath.Join(dir, "x"), newFile)
	if err != nil {
		return err
	}
	st, err = mpi.WriteAt(f, 900, buf[:200])
	if err := says(err, mpi.ErrQuota, "ulimit -f"); err != nil {
		return err
	}
	if st.Bytes() != 100 {
		return fmt.Errorf("wrote %d bytes below the limit", st.Bytes())
	}
	if err := errors.Join(says(f.SetSize(1001), mpi.ErrQuota, "1001", "ulimit -f"), says(f.Preallocate(1001), mpi.ErrQuota, "ulimit -f")); err != nil {
		return err
	}

	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	_, err = mpi.OpenFile(c, filepath.Join(locked, "x"), newFile)
	return errors.Join(says(err, mpi.ErrAccess, "permission denied"), says(mpi.DeleteFile(c, f.Path()), mpi.ErrAccess, "permission denied"),
		full.Close(), f.Close(), mpi.Finalize())
}
