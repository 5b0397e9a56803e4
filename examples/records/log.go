package main

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// A record is what ranks append. Records are sorted by their keys, which are spread evenly over 64 bits.
type record struct {
	Key          uint64
	Rank, Number uint32
	Value        float64
}

func compare(a, b record) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Number, b.Number))
}

// hash mixes all fields.
func (r record) hash() int64 {
	h := r.Key
	for _, v := range []uint64{uint64(r.Rank), uint64(r.Number), uint64(r.Value * (1 << 30))} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return int64(h)
}

// log is the file. Its view is that of records: offsets and file pointers count records.
type log struct {
	world *mpi.Comm
	file  *mpi.File
}

// open opens an empty log of that path, or a temporary one. If that fails it does on all ranks.
func open(world *mpi.Comm, count int, path string) (*log, error) {
	if count < 0 {
		return nil, fmt.Errorf("records: -records is %d, must not be negative", count)
	}
	mode := mpi.ModeCreate | mpi.ModeReadWrite
	if path == "" {
		pid, err := mpi.BcastOne(world, os.Getpid(), 0)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(os.TempDir(), fmt.Sprintf("halo-records-%d", pid))
		mode |= mpi.ModeExcl | mpi.ModeDeleteOnClose
	}
	f, err := mpi.OpenFile(world, path, mode)
	if err != nil {
		return nil, err
	}
	if err := f.SetSize(0); err != nil { // there may have been a longer one
		return nil, err
	}
	element, err := mpi.TypeOf[record]()
	if err != nil {
		return nil, err
	}
	return &log{world, f}, f.SetView(0, element, element, "native")
}

// A summary is of records.
type summary struct{ count, hash, descents int64 }

func (s *summary) add(list []record) {
	for i, r := range list {
		s.count++
		s.hash += r.hash() // in any order the same
		if i > 0 && compare(list[i-1], r) > 0 {
			s.descents++
		}
	}
}

// appendAll appends the records of this rank, some at a time. It returns what they are like, and how many
// calls it took.
func (l *log) appendAll(count int, seed uint64) (s summary, calls int, err error) {
	r := rand.New(rand.NewPCG(seed, uint64(l.world.Rank())))
	var some []record
	for number := range count {
		some = append(some, record{r.Uint64(), uint32(l.world.Rank()), uint32(number), r.Float64()})
		if number+1 < count && r.IntN(4) > 0 {
			continue // the next one goes along
		}
		if _, err := mpi.WriteShared(l.file, some); err != nil {
			return s, calls, err
		}
		s.add(some)
		calls++
		some = some[:0]
	}
	return s, calls, nil
}

// settle makes what each rank has written visible to all others, on any file system.
func (l *log) settle() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	if err := l.world.Barrier(); err != nil {
		return err
	}
	return l.file.Sync()
}

// share reads this rank's share of the log. before is how many records precede it.
func (l *log) share() (list []record, before int64, err error) {
	end, err := l.file.Seek(0, mpi.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	rank, ranks := int64(l.world.Rank()), int64(l.world.Size())
	before = rank * end / ranks
	list = make([]record, (rank+1)*end/ranks-before)
	_, err = mpi.ReadAtAll(l.file, before, list)
	return list, before, err
}

// sort replaces the records by the same ones in the order of their keys. The first rank gets those with the
// lowest keys.
func (l *log) sort() error {
	part, _, err := l.share()
	if err != nil {
		return err
	}
	slices.SortFunc(part, compare) // so that those for a rank are together
	ranks := l.world.Size()
	sendCounts, recvCounts := make([]int, ranks), make([]int, ranks)
	for _, r := range part {
		owner, _ := bits.Mul64(r.Key, uint64(ranks))
		sendCounts[owner]++
	}
	if err := mpi.Alltoall(l.world, sendCounts, recvCounts); err != nil {
		return err
	}
	total := 0
	for _, n := range recvCounts {
		total += n
	}
	mine := make([]record, total)
	if err := mpi.Alltoallv(l.world, part, sendCounts, nil, mine, recvCounts, nil); err != nil {
		return err
	}
	slices.SortFunc(mine, compare)

	if _, err := l.file.SeekShared(0, mpi.SeekSet); err != nil {
		return err
	}
	_, err = mpi.WriteOrdered(l.file, mine)
	return err
}

// verify summarises this rank's share of the log. A share that begins with a lower key than the one before
// ends with is a descent, too.
func (l *log) verify() (s summary, err error) {
	list, before, err := l.share()
	if err != nil {
		return s, err
	}
	s.add(list)
	if before > 0 && len(list) > 0 {
		last := make([]record, 1)
		if _, err := mpi.ReadAt(l.file, before-1, last); err != nil {
			return s, err
		}
		if compare(last[0], list[0]) > 0 {
			s.descents++
		}
	}
	return s, nil
}
