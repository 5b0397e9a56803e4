package main

import "fmt"

// record is the data that a lock protects: a counter, the name of the rank that has counted last,
// and a checksum of both. It is accessed by get and put, not by atomic operations.
type record [fields]uint64

// The fields of a record.
const (
	counter = iota
	holder
	sum
	fields
)

func newRecord(count, by uint64) record {
	return record{counter: count, holder: by, sum: 1_000_003*count + by}
}

// count adds 1 to the record of home, whose lock the caller holds. before is the previous holder
// of the lock, if that is known.
func (l *lock) count(home int, before uint64) error {
	r, err := l.guarded(home)
	switch {
	case err != nil:
		return err
	case r != newRecord(r[counter], r[holder]):
		return fmt.Errorf("mcslock: rank %d found the record of rank %d half written: %d", l.me, home, r)
	case before != 0 && r[holder] != before:
		return fmt.Errorf("mcslock: rank %d has the lock of rank %d from rank %d, but the last who counted is rank %d",
			l.me, home, int(before)-1, int(r[holder])-1)
	}
	r = newRecord(r[counter]+1, uint64(l.me+1))
	if err := l.win.Put(r[:], home, protected); err != nil {
		return err
	}
	return l.win.Flush(home) // before another rank gets the lock
}

// guarded is the record of home.
func (l *lock) guarded(home int) (r record, err error) {
	if err := l.win.Get(r[:], home, protected); err != nil {
		return r, err
	}
	err = l.win.Flush(home)
	return r, err
}
