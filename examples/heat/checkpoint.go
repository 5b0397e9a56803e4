package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

// A checkpoint is a file with the state of the computation: a header, and behind it the cells of the picture
// row by row. It does not tell how many ranks have written it, and any number can continue from it.
type header struct {
	Magic    uint64 // tells a checkpoint from other files
	W, H     int64
	Step     int64
	Residual float64 // after that step
}

const (
	magic      = 0x48414c4f68656174 // differs on machines of another byte order
	headerSize = 40
)

// unfinished is what a checkpoint is called until all of it is on the disk. The last one is never changed: when
// a rank is killed at any time, one of the two names a whole checkpoint.
func unfinished(name string) string { return name + ".part" }

// writable makes sure, before the work, that checkpoints can be written: on rank 0, which reports it
// once.
func writable(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(unfinished(name))
	if err != nil {
		return fmt.Errorf("heat: %w", err)
	}
	return f.Close()
}

// checkpoint replaces the checkpoint of that name: all ranks write their blocks at the same time. The name
// is given to the file when Sync has told that it is on the disk.
func checkpoint(plate *mpi.Comm, l layout, b *block, name string, step int, residual float64) error {
	f, err := mpi.OpenFile(plate, unfinished(name), mpi.ModeCreate|mpi.ModeWriteOnly)
	if err != nil {
		return err
	}
	h := []header{{magic, int64(l.w), int64(l.h), int64(step), residual}}
	if plate.Rank() == 0 {
		if _, err := mpi.WriteAt(f, 0, h); err != nil {
			return err
		}
	}
	if err := f.SetSize(headerSize + 8*int64(l.w)*int64(l.h)); err != nil { // it may have been longer
		return err
	}
	memory, err := b.view(plate, l, f)
	if err != nil {
		return err
	}
	if _, err := f.WriteAll(memory); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if plate.Rank() != 0 {
		return nil
	}
	if err := os.Rename(unfinished(name), name); err != nil {
		return fmt.Errorf("heat: %w", err)
	}
	return nil
}

// restore reads the block of this rank from a checkpoint.
func restore(plate *mpi.Comm, l layout, b *block, name string) error {
	f, err := mpi.OpenFile(plate, name, mpi.ModeReadOnly)
	if err != nil {
		return err
	}
	memory, err := b.view(plate, l, f)
	if err != nil {
		return err
	}
	if _, err := f.ReadAll(memory); err != nil {
		return err
	}
	return f.Close()
}

// view has f show this rank the cells of its block, and returns where they are in memory: there they have
// a halo around them, in the file the rest of the picture.
func (b *block) view(plate *mpi.Comm, l layout, f *mpi.File) (mpi.Buffer, error) {
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return mpi.Buffer{}, err
	}
	x0, y0, x1, y1 := l.bounds(plate.Rank())
	block := []int{y1 - y0, x1 - x0}
	inFile, err := mpi.TypeSubarray([]int{l.h, l.w}, block, []int{y0, x0}, mpi.OrderC, double)
	if err != nil {
		return mpi.Buffer{}, err
	}
	defer inFile.Free()
	inMemory, err := mpi.TypeSubarray([]int{b.h + 2, b.w + 2}, block, []int{1, 1}, mpi.OrderC, double)
	if err != nil {
		return mpi.Buffer{}, err
	}
	defer inMemory.Free()
	if err := errors.Join(inFile.Commit(), inMemory.Commit()); err != nil {
		return mpi.Buffer{}, err
	}
	return mpi.BufOf(b.cells, 1, inMemory), f.SetView(headerSize, double, inFile, "native")
}

// readHeader returns the header of a checkpoint. Only rank 0 calls it, so that a wrong file is reported once.
func readHeader(name string) (h header, err error) {
	f, err := os.Open(name)
	if err != nil {
		return h, fmt.Errorf("heat: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = binary.Read(f, binary.NativeEndian, &h)
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && h.Magic != magic:
		return h, fmt.Errorf("heat: %s is no checkpoint of this program", name)
	case err != nil:
		return h, fmt.Errorf("heat: %w", err)
	case h.W < 1 || h.H < 1 || h.W > maxCells/h.H || info.Size() != headerSize+8*h.W*h.H:
		return h, fmt.Errorf("heat: checkpoint %s has %d bytes, which do not fit to a picture of %d x %d", name, info.Size(), h.W, h.H)
	}
	return h, nil
}
