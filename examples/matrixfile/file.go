package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/halo-mpi/halo/mpi"
)

// open opens an empty file of that path, or a temporary one. If that fails it does on all ranks.
func open(world *mpi.Comm, rows, cols, block int, path string) (*mpi.File, error) {
	if rows < 1 || cols < 1 || block < 1 {
		return nil, fmt.Errorf("matrixfile: -rows is %d, -cols is %d and -block is %d, each must be at least 1", rows, cols, block)
	}
	mode := mpi.ModeCreate | mpi.ModeReadWrite
	if path == "" {
		pid, err := mpi.BcastOne(world, os.Getpid(), 0)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(os.TempDir(), fmt.Sprintf("halo-matrixfile-%d", pid))
		mode |= mpi.ModeExcl | mpi.ModeDeleteOnClose
	}
	f, err := mpi.OpenFile(world, path, mode)
	if err != nil {
		return nil, err
	}
	return f, f.SetSize(0) // there may have been a longer one
}

// settle makes what each rank has written visible to all others, on any file system.
func settle(world *mpi.Comm, f *mpi.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	return f.Sync()
}

// compare reads the file as a serial program does, and returns an error if it is not the matrix row by
// row.
func compare(path string, rows, cols int) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("matrixfile: %w", err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	row := make([]float64, cols)
	for i := range rows {
		if err := binary.Read(in, binary.NativeEndian, row); err != nil {
			return fmt.Errorf("matrixfile: %s, row %d: %w", path, i, err)
		}
		for j, v := range row {
			if v != number(i, j) {
				return fmt.Errorf("matrixfile: %s has %v in row %d, column %d, want %v", path, v, i, j, number(i, j))
			}
		}
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("matrixfile: %s is longer than %d x %d numbers", path, rows, cols)
	}
	return nil
}
