// Place puts a tree of files that make install has made below a prefix, and removes it again.
//
//	go run ./abi/place STAGE PREFIX
//	go run ./abi/place -remove PREFIX
//
// Each file is renamed into its place: a program that runs keeps the library that it has loaded, and nobody sees
// half a file. Files that can be executed get mode 0755, others 0644, new folders 0755, whatever the umask. The
// list of what was put there is share/halo/installed; what other installations to the same prefix have
// added, such as modules for another Fortran compiler, stays in it. -remove removes what the list names, and folders that
// are empty then.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// list is the file, below the prefix, with the names of all files, one a line.
const list = "share/halo/installed"

func main() {
	err := errors.New("usage: place STAGE PREFIX, or place -remove PREFIX")
	if len(os.Args) == 3 {
		if os.Args[1] == "-remove" {
			err = remove(os.Args[2])
		} else {
			err = place(os.Args[1], os.Args[2])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "place:", err)
		os.Exit(1)
	}
}

// place puts all files and links below stage to prefix.
func place(stage, prefix string) error {
	names, err := installed(prefix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := map[string]bool{list: true}
	for _, name := range names {
		all[name] = true
	}
	err = filepath.WalkDir(stage, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(stage, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)] = true
		return put(path, filepath.Join(prefix, name))
	})
	if err != nil {
		return err
	}
	text := strings.Join(slices.Sorted(maps.Keys(all)), "\n") + "\n"
	return write(filepath.Join(prefix, filepath.FromSlash(list)), []byte(text), 0o644)
}

// put copies a file or a link.
func put(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := folders(filepath.Dir(to)); err != nil {
			return err
		}
		fresh := to + ".new"
		os.Remove(fresh)
		if err := os.Symlink(target, fresh); err != nil {
			return err
		}
		return os.Rename(fresh, to)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	return write(to, text, mode)
}

// write replaces a file by one with a mode.
func write(to string, text []byte, mode fs.FileMode) error {
	if err := folders(filepath.Dir(to)); err != nil {
		return err
	}
	fresh := to + ".new"
	os.Remove(fresh)
	if err := os.WriteFile(fresh, text, mode); err != nil {
		return err
	}
	if err := os.Chmod(fresh, mode); err != nil {
		return err
	}
	return os.Rename(fresh, to)
}

// folders makes the folders of a path that are missing.
func folders(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := folders(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// installed returns the names in the list of a prefix.
func installed(prefix string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(prefix, filepath.FromSlash(list)))
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(text))
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s names %q, which is not below it", filepath.Join(prefix, list), name)
		}
	}
	return names, nil
}

// remove removes the files of the list, and then the folders above them that are empty.
func remove(prefix string) error {
	names, err := installed(prefix)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no %s: make install of this version has not put Halo there", prefix, list)
	}
	if err != nil {
		return err
	}
	above := map[string]bool{}
	for _, name := range names {
		if err := os.Remove(filepath.Join(prefix, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := filepath.Dir(filepath.FromSlash(name)); dir != "."; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	dirs := slices.Sorted(maps.Keys(above))
	for _, dir := range slices.Backward(dirs) { // a folder comes after the one that contains it
		os.Remove(filepath.Join(prefix, dir)) // which fails if the folder is not empty
	}
	return nil
}
