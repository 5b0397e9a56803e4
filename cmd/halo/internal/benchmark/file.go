package benchmark

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Numbers of the file benchmarks; bench/files.h has the same.
const (
	fileCycle   = 1 << 20 // bytes of the file in which short independent accesses cycle
	fileRows    = 10000   // rows in memory of file-rows
	filePacked  = 1 << 18 // bytes that file-rows packs by hand before it writes them
	fileBlocks  = 1024    // interleaved blocks of a rank in file-blocks
	fileStrided = 4096    // blocks that file-strided reads in one access; it skips three times as much
	gapBlock    = 16      // bytes of a block in the file of file-gap
	gapWidth    = 16      // bytes of the gap in memory of file-gap
)

// fileLoop is one of the loops that a file benchmark compares.
type fileLoop struct {
	name  string
	body  func(n int) error
	array *array // of file-array
}

// files is one open file, and the same file opened by hand: accesses of package os stand for what a
// program does without MPI.
type files struct {
	world *mpi.Comm
	size  int
	name  string // in its directory
	f     *mpi.File
	hand  *os.File
	mem   []byte
}

// fileKinds are the file benchmarks. Files are in the page cache.
func fileKinds() []kind {
	return []kind{
		{"file-at", "a write and a read of that many contiguous bytes, and the same by hand", []int{1 << 10, 64 << 10, 1 << 20, 64 << 20}, 0},
		{"file-rows", "a write of 10000 rows of that many bytes with gaps in memory, contiguous in the file; the same contiguous in memory, and packed by hand", []int{64, 256, 1 << 10}, 0},
		{"file-gap", "a collective write of that many bytes of each rank, with a gap in memory, in blocks of 16", []int{1 << 20}, 0},
		{"file-array", "collective accesses of parts of n x n x n doubles, in three and four dimensions, and the same by hand", []int{128}, 0},
		{"file-blocks", "collective accesses of 1024 blocks of that size of each rank, interleaved", []int{1 << 10, 4 << 10}, 0},
		{"file-strided", "a read of 4096 blocks of that size, each rank by itself, and of a quarter of the bytes between", []int{64, 512}, 0},
		{"file-shared", "a write at the shared file pointer", []int{100}, 0},
		{"file-overlap", "a nonblocking collective write of that many bytes beside computation of the same time", []int{64 << 20}, 0},
	}
}

// isFile reports whether a benchmark is one of files.
func isFile(name string) bool { return strings.HasPrefix(name, "file-") }

// filing measures a file benchmark for one size.
func filing(world *mpi.Comm, p *Plan, size int, report *Report) error {
	x := &files{world: world, size: size}
	if err := x.open(p.Dir, p.Name); err != nil {
		return err
	}
	loops, err := x.loops(p)
	if err != nil {
		return err // the job ends, so that nobody waits to close the file
	}
	bodies := make([]func(int) error, len(loops))
	for i, l := range loops {
		bodies[i] = l.body
	}
	us, err := p.measureInTurn(world, bodies...)
	if err != nil {
		return err
	}
	if err := x.close(); err != nil {
		return err
	}
	for i, l := range loops {
		if p.Dir != "" {
			l.name += " in " + p.Dir
		}
		r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size, Layout: l.name, US: us[i]}
		if err := report.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// loops prepares the loops of a benchmark.
func (x *files) loops(p *Plan) ([]fileLoop, error) {
	switch p.Name {
	case "file-at":
		return x.contiguous()
	case "file-rows":
		return x.rows()
	case "file-gap":
		return x.gap()
	case "file-array":
		return x.arrays()
	case "file-blocks":
		return x.blocks()
	case "file-strided":
		return x.strided()
	case "file-shared":
		x.mem = written[byte](x.size)
		return []fileLoop{{name: "write", body: x.repeat(func() (mpi.Status, error) { return mpi.WriteShared(x.f, x.mem) })}}, nil
	}
	return x.overlap(p)
}

// open makes the file, in memory if no directory is given and the system has such a one.
func (x *files) open(dir, name string) error {
	if dir == "" {
		dir = os.TempDir()
		if s, err := os.Stat("/dev/shm"); err == nil && s.IsDir() {
			dir = "/dev/shm"
		}
	}
	pid := []int{os.Getpid()}
	if err := mpi.Bcast(x.world, pid, 0); err != nil {
		return err
	}
	x.name = fmt.Sprintf("halo-bench-%s-%d", name, pid[0])
	path := filepath.Join(dir, x.name)
	var err error
	x.f, err = mpi.OpenFile(x.world, path, mpi.ModeCreate|mpi.ModeReadWrite|mpi.ModeDeleteOnClose)
	if err != nil {
		return err
	}
	x.hand, err = os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return nil
}

func (x *files) close() error { return errors.Join(x.hand.Close(), x.f.Close()) }

// repeat is a loop of one access.
func (x *files) repeat(access func() (mpi.Status, error)) func(n int) error {
	return func(n int) error {
		for range n {
			if _, err := access(); err != nil {
				return err
			}
		}
		return nil
	}
}

// view sets a view of bytes.
func (x *files) view(disp int64, t mpi.Datatype, err error) error {
	if err == nil {
		err = t.Commit()
	}
	if err != nil {
		return err
	}
	return x.f.SetView(disp, bytesType(), t, "native")
}

func bytesType() mpi.Datatype {
	t, err := mpi.TypeOf[byte]()
	if err != nil {
		panic(err) // every process has this type
	}
	return t
}

// contiguous are the loops of file-at. Each rank has a part of the file of its own.
func (x *files) contiguous() ([]fileLoop, error) {
	blocks := max(1, fileCycle/x.size)
	x.mem = written[byte](x.size)
	first := int64(x.world.Rank() * blocks * x.size)
	loop := func(access func(off int64) error) func(n int) error {
		return func(n int) error {
			for i := range n {
				if err := access(first + int64(i%blocks*x.size)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	_, err := x.hand.WriteAt(written[byte](blocks*x.size), first)
	return []fileLoop{
		{name: "write", body: loop(func(off int64) error { _, err := mpi.WriteAt(x.f, off, x.mem); return err })},
		{name: "write by hand", body: loop(func(off int64) error { _, err := x.hand.WriteAt(x.mem, off); return err })},
		{name: "read", body: loop(func(off int64) error { _, err := mpi.ReadAt(x.f, off, x.mem); return err })},
		{name: "read by hand", body: loop(func(off int64) error { _, err := x.hand.ReadAt(x.mem, off); return err })},
	}, err
}

// rows are the loops of file-rows.
func (x *files) rows() ([]fileLoop, error) {
	t, err := mpi.TypeVector(fileRows, x.size, 2*x.size, bytesType())
	if err == nil {
		err = t.Commit()
	}
	x.mem = written[byte](2 * fileRows * x.size)
	rows, whole := mpi.BufOf(x.mem, 1, t), x.mem[:fileRows*x.size]
	first := int64(x.world.Rank() * len(whole))
	return []fileLoop{
		{name: "contiguous", body: x.repeat(func() (mpi.Status, error) { return mpi.WriteAt(x.f, first, whole) })},
		{name: "rows", body: x.repeat(func() (mpi.Status, error) { return x.f.WriteAt(first, rows) })},
		{name: "rows by hand", body: x.rowsByHand(first)},
	}, err
}

// rowsByHand packs rows into a buffer, and writes it whenever it is full.
func (x *files) rowsByHand(first int64) func(n int) error {
	buf := make([]byte, max(1, filePacked/x.size)*x.size)
	return func(n int) error {
		for range n {
			for at, row := first, 0; row < fileRows; {
				k := 0
				for ; k < len(buf) && row < fileRows; k, row = k+x.size, row+1 {
					copy(buf[k:k+x.size], x.mem[2*row*x.size:])
				}
				if _, err := x.hand.WriteAt(buf[:k], at); err != nil {
					return err
				}
				at += int64(k)
			}
		}
		return nil
	}
}

// gap are the loops of file-gap. The access is that of mpich#6985: a view of many subarrays with
// 64 rows of 16 bytes, behind a short contiguous part of each rank.
func (x *files) gap() ([]fileLoop, error) {
	const rows = 64
	ranks, rank := x.world.Size(), x.world.Rank()
	part, err := mpi.TypeSubarray([]int{rows, gapBlock * ranks}, []int{rows, gapBlock}, []int{0, gapBlock * rank}, mpi.OrderC, bytesType())
	if err != nil {
		return nil, err
	}
	parts := x.size / rows / gapBlock
	lengths, displs, types := []int{rows}, []int{rows * rank}, []mpi.Datatype{bytesType()}
	for i := range parts {
		lengths, displs, types = append(lengths, 1), append(displs, rows*ranks*(1+gapBlock*i)), append(types, part)
	}
	whole, err := mpi.TypeStruct(lengths, displs, types)
	if err := x.view(0, whole, err); err != nil {
		return nil, err
	}
	x.mem = written[byte](rows + gapWidth + x.size)
	memory, err := mpi.TypeHindexed([]int{rows, x.size}, []int{0, rows + gapWidth}, bytesType())
	if err == nil {
		err = memory.Commit()
	}
	gap, without := mpi.BufOf(x.mem, 1, memory), x.mem[:rows+x.size]
	return []fileLoop{
		{name: "contiguous", body: x.repeat(func() (mpi.Status, error) { return mpi.WriteAtAll(x.f, 0, without) })},
		{name: "gap", body: x.repeat(func() (mpi.Status, error) { return x.f.WriteAtAll(0, gap) })},
	}, err
}

// blocks are the loops of file-blocks.
func (x *files) blocks() ([]fileLoop, error) {
	ranks, rank := x.world.Size(), x.world.Rank()
	t, err := mpi.TypeVector(fileBlocks, x.size, ranks*x.size, bytesType())
	if err := x.view(int64(rank*x.size), t, err); err != nil {
		return nil, err
	}
	x.mem = written[byte](fileBlocks * x.size)
	return []fileLoop{
		{name: "write", body: x.repeat(func() (mpi.Status, error) { return mpi.WriteAtAll(x.f, 0, x.mem) })},
		{name: "read", body: x.repeat(func() (mpi.Status, error) { return mpi.ReadAtAll(x.f, 0, x.mem) })},
	}, nil
}

// strided are the loops of file-strided.
func (x *files) strided() ([]fileLoop, error) {
	t, err := mpi.TypeVector(fileStrided, x.size, 4*x.size, bytesType())
	if err == nil {
		_, err = x.hand.WriteAt(written[byte](4*fileStrided*x.size), 0)
	}
	if err := x.view(0, t, err); err != nil {
		return nil, err
	}
	x.mem = written[byte](fileStrided * x.size)
	return []fileLoop{{name: "read", body: x.repeat(func() (mpi.Status, error) { return mpi.ReadAt(x.f, 0, x.mem) })}}, nil
}

// overlap are the loops of file-overlap. The computation takes as long as the write alone.
func (x *files) overlap(p *Plan) ([]fileLoop, error) {
	x.mem = written[byte](x.size)
	first := int64(x.world.Rank() * x.size)
	started := func(between func()) (mpi.Status, error) {
		r := mpi.IwriteAtAll(x.f, first, x.mem)
		between()
		return r.Wait()
	}
	alone := x.repeat(func() (mpi.Status, error) { return started(func() {}) })
	us, err := p.measure(x.world, alone)
	if err != nil {
		return nil, err
	}
	list := []float64{us}
	if err := mpi.Bcast(x.world, list, 0); err != nil {
		return nil, err
	}
	steps := stepsIn(time.Duration(list[0] * 1e3))
	return []fileLoop{
		{name: "write", body: alone},
		{name: "compute", body: func(n int) error {
			for range n {
				multiply(steps)
			}
			return nil
		}},
		{name: "both", body: x.repeat(func() (mpi.Status, error) { return started(func() { multiply(steps) }) })},
	}, nil
}

// multiply computes without access to memory.
func multiply(steps int) {
	v := uint64(steps)
	for range steps {
		v = v*6364136223846793005 + 1442695040888963407
	}
	runtime.KeepAlive(v)
}

// stepsIn is the number of steps that multiply makes in a time.
func stepsIn(t time.Duration) int {
	const trial = 1 << 22
	var list []time.Duration
	for range 5 {
		start := time.Now()
		multiply(trial)
		list = append(list, time.Since(start))
	}
	return max(1, int(float64(trial)*float64(t)/float64(slices.Min(list))))
}

// checkFile returns an error if a file benchmark cannot be run with a size.
func checkFile(name string, size int) error {
	least, unit := 1, 1
	switch name {
	case "file-gap":
		least, unit = 1<<10, 1<<10
	case "file-array":
		least, unit = 8, 8
	}
	if isFile(name) && (size < least || size%unit != 0) {
		return fmt.Errorf("%s takes sizes that are multiples of %d, not %d", name, unit, size)
	}
	return nil
}
