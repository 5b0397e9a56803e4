package mpi_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/halo-mpi/halo/mpi"
)

// temporary returns a path in a directory that clean removes.
func temporary() (path string, clean func()) {
	dir, err := os.MkdirTemp("", "halo-example-")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "matrix"), func() { os.RemoveAll(dir) }
}

// Each rank has a column of a matrix; all columns are written together, and the file has the matrix
// row by row.
func ExampleOpenFile() {
	path, clean := temporary()
	defer clean()
	err := mpi.Run(3, func(c *mpi.Comm) error {
		const rows = 2
		f, err := mpi.OpenFile(c, path, mpi.ModeCreate|mpi.ModeReadWrite)
		if err != nil {
			return err
		}
		element, err := mpi.TypeOf[int32]()
		if err != nil {
			return err
		}
		column, err := mpi.TypeVector(rows, 1, c.Size(), element)
		if err != nil {
			return err
		}
		if err := column.Commit(); err != nil {
			return err
		}
		if err := f.SetView(int64(4*c.Rank()), element, column, "native"); err != nil {
			return err
		}
		mine := []int32{int32(c.Rank()), int32(10 + c.Rank())}
		if _, err := mpi.WriteAll(f, mine); err != nil {
			return err
		}
		if err := f.SetView(0, element, element, "native"); err != nil {
			return err
		}
		if c.Rank() == 0 {
			matrix := make([]int32, rows*c.Size())
			if _, err := mpi.ReadAt(f, 0, matrix); err != nil {
				return err
			}
			fmt.Println(matrix)
		}
		return f.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [0 1 2 10 11 12]
}

// A log to which all ranks append records in the order of their ranks.
func ExampleWriteOrdered() {
	path, clean := temporary()
	defer clean()
	err := mpi.Run(3, func(c *mpi.Comm) error {
		f, err := mpi.OpenFile(c, path, mpi.ModeCreate|mpi.ModeWriteOnly)
		if err != nil {
			return err
		}
		if _, err := mpi.WriteOrdered(f, fmt.Appendf(nil, "rank %d was here\n", c.Rank())); err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(path)
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// rank 0 was here
	// rank 1 was here
	// rank 2 was here
	// <nil>
}

// Hints are types in Go, or keys of an Info, which may be for other implementations, too. Info tells those in use.
func ExampleFile_Info() {
	path, clean := temporary()
	defer clean()
	err := mpi.Run(2, func(c *mpi.Comm) error {
		site := mpi.NewInfo()
		if err := site.Set("striping_unit", "1048576"); err != nil {
			return err
		}
		f, err := mpi.OpenFile(c, path, mpi.ModeCreate|mpi.ModeReadWrite, site, mpi.CbNodes(1), mpi.AccessStyle("random"))
		if err != nil {
			return err
		}
		info, err := f.Info()
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			for _, key := range []string{"cb_nodes", "cb_buffer_size", "access_style", "striping_unit"} {
				value, _ := info.Get(key)
				fmt.Println(key, value)
			}
		}
		return f.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// cb_nodes 1
	// cb_buffer_size 4194304
	// access_style random
	// striping_unit 1048576
}

// A rank reads its part of a file with what the standard library reads by.
func ExampleFile_Stream() {
	path, clean := temporary()
	defer clean()
	err := mpi.Run(1, func(c *mpi.Comm) error {
		f, err := mpi.OpenFile(c, path, mpi.ModeCreate|mpi.ModeReadWrite)
		if err != nil {
			return err
		}
		s := f.Stream()
		fmt.Fprintln(s, "three words", 42)
		if _, err := f.Seek(0, mpi.SeekSet); err != nil {
			return err
		}
		var a, b string
		var n int
		if _, err := fmt.Fscan(s, &a, &b, &n); err != nil {
			return err
		}
		fmt.Println(b, a, n)
		return f.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: words three 42
}
