package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// files makes files, or links if the content begins with "-> ".
func files(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, content := range all {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			if target, is := strings.CutPrefix(content, "-> "); is {
				err = os.Symlink(target, path)
			} else {
				err = os.WriteFile(path, []byte(content), 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// left returns everything below a folder.
func left(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path != dir {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// make uninstall removes what make install has put below a prefix, and nothing else; a second installation adds
// to the first. A file that is in use is replaced, not written to.
func TestInstallAndUninstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are those of Unix")
	}
	first, second, prefix := t.TempDir(), t.TempDir(), t.TempDir()
	files(t, first, map[string]string{"bin/halo": "old", "bin/mpiexec": "-> halo", "lib/pkgconfig/halo.prefix": "-> ../..", "share/man/man3/MPI_Send.3": "page"})
	files(t, second, map[string]string{"bin/halo": "new", "bin/mpiexec": "a program", "include/fortran/ifx/mpi.mod": "module"})
	for _, dir := range []string{first, second} {
		if err := os.Chmod(filepath.Join(dir, "bin/halo"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	files(t, prefix, map[string]string{"bin/other": "of others", "share/man/man3/MPI_Recv.3": "of others"})
	if err := place(first, prefix); err != nil {
		t.Fatal(err)
	}
	running, err := os.Open(filepath.Join(prefix, "bin/halo"))
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := place(second, prefix); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 3)
	if _, err := running.Read(text); err != nil || string(text) != "old" {
		t.Errorf("a program that runs has %q, %v", text, err)
	}
	for name, want := range map[string]fs.FileMode{"bin/halo": 0o755, "bin/mpiexec": 0o644, "include/fortran/ifx": fs.ModeDir | 0o755, "share/man/man3/MPI_Send.3": 0o644} {
		info, err := os.Lstat(filepath.Join(prefix, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if err := remove(prefix); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(left(t, prefix), " "); got != "bin bin/other share share/man share/man/man3 share/man/man3/MPI_Recv.3" {
		t.Errorf("left are %s", got)
	}
	if err := remove(prefix); err == nil || !strings.Contains(err.Error(), "has no share/halo/installed") {
		t.Errorf("again: %v", err)
	}

	empty := t.TempDir()
	if err := place(first, empty); err != nil {
		t.Fatal(err)
	}
	if err := remove(empty); err != nil {
		t.Fatal(err)
	}
	if got := left(t, empty); len(got) > 0 {
		t.Errorf("left are %q", got)
	}
	files(t, empty, map[string]string{list: "../../etc/passwd\n"})
	if err := remove(empty); err == nil || !strings.Contains(err.Error(), "not below it") {
		t.Errorf("a list that leads out: %v", err)
	}
}
