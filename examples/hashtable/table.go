package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// table is a hash table in a window. A bucket has two words: a key, 0 in an empty bucket,
// and its value. Rank r has the buckets from r*perRank on. A key belongs into the
// bucket that its hash gives, or into the next free one if that has another key.
//
// A rank claims a bucket by compare_and_swap of its key, so that only one of several ranks
// succeeds, and puts the value after that. The value may arrive later than the key, but before
// insert returns on all ranks. Keys are never removed.
//
// A rank issues a batch of operations and then flushes once, so that it waits for the network
// once for all of them.
type table struct {
	win     mpi.Win[uint64]
	buckets int
	perRank int
}

// batch is the number of keys that are processed at once. More is hardly faster.
const batch = 256

// newTable makes a table for so many keys, half of it to stay empty.
func newTable(world *mpi.Comm, keys int) (*table, error) {
	t := &table{perRank: 2*keys/world.Size() + 1}
	t.buckets = t.perRank * world.Size()
	var err error
	t.win, err = mpi.WinAllocate[uint64](world, 2*t.perRank)
	if err != nil {
		return nil, err
	}
	// One epoch lets all ranks access all others until the end. Memory of a window is zero
	// at first: all buckets are empty.
	return t, t.win.LockAll(mpi.ModeNoCheck)
}

func (t *table) free() error {
	if err := t.win.UnlockAll(); err != nil {
		return err
	}
	return t.win.Free()
}

// at is where a bucket is.
func (t *table) at(bucket int) (rank, disp int) { return bucket / t.perRank, bucket % t.perRank * 2 }

// try is a key that is being inserted or looked up.
type try struct {
	key    uint64
	bucket int
	saw    [2]uint64
}

// probe tries keys, a batch at a time: issue starts an operation on the bucket of each,
// and settle, when they are complete, reports whether the key is done. Other keys continue with
// the next bucket.
func (t *table) probe(keys []uint64, issue func(*try) error, settle func(*try) (bool, error)) error {
	tries := make([]try, 0, batch)
	for len(keys) > 0 || len(tries) > 0 {
		for len(keys) > 0 && len(tries) < batch {
			tries = append(tries, try{key: keys[0], bucket: int(keys[0] % uint64(t.buckets))})
			keys = keys[1:]
		}
		for i := range tries {
			if err := issue(&tries[i]); err != nil {
				return err
			}
		}
		if err := t.win.FlushAll(); err != nil {
			return err
		}
		left := tries[:0]
		for i := range tries {
			done, err := settle(&tries[i])
			if err != nil {
				return err
			}
			if !done {
				try := tries[i]
				try.bucket = (try.bucket + 1) % t.buckets
				left = append(left, try)
			}
		}
		tries = left
	}
	return nil
}

// insert puts keys with their values into the table, and returns how many were not there.
func (t *table) insert(keys []uint64) (created int, err error) {
	var empty uint64
	values := make([]uint64, 0, len(keys)) // an element must not change until it is sent
	err = t.probe(keys, func(try *try) error {
		rank, disp := t.at(try.bucket)
		return t.win.CompareAndSwap(&try.key, &empty, &try.saw[0], rank, disp)
	}, func(try *try) (bool, error) {
		if try.saw[0] != empty {
			return try.saw[0] == try.key, nil // another rank has claimed the bucket, for this key or another one
		}
		created++
		values = append(values, valueOf(try.key))
		rank, disp := t.at(try.bucket)
		return true, t.win.Put(values[len(values)-1:], rank, disp+1)
	})
	if err != nil {
		return created, err
	}
	return created, t.win.FlushAll()
}

// lookup returns how many of the keys are there, and fails if a value is wrong.
func (t *table) lookup(keys []uint64) (found int, err error) {
	err = t.probe(keys, func(try *try) error {
		rank, disp := t.at(try.bucket)
		return t.win.Get(try.saw[:], rank, disp)
	}, func(try *try) (bool, error) {
		switch key, value := try.saw[0], try.saw[1]; {
		case key == 0:
			return true, nil
		case key != try.key:
			return false, nil
		case value != valueOf(key):
			return true, fmt.Errorf("hashtable: the value of key %#x in bucket %d is %#x, want %#x", key, try.bucket, value, valueOf(key))
		}
		found++
		return true, nil
	})
	return found, err
}
