package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// someInfo returns the info of a handle that must not be null, for calls on infos.
func (l *Lib) someInfo(h handle, by call.Number) (*mpi.Info, error) {
	if h == infoNull {
		return nil, l.fail(mpi.ErrInfo, by, "info is MPI_INFO_NULL")
	}
	return l.info(h, by)
}

// freeInfo is MPI_Info_free.
func (l *Lib) freeInfo(a args) error {
	const by = call.InfoFree
	return free(l, a, by, infoNull, func(h handle, by call.Number) (*mpi.Info, error) {
		if h == infoEnv {
			return nil, l.fail(mpi.ErrInfo, by, "info is MPI_INFO_ENV, which is predefined")
		}
		return l.someInfo(h, by)
	}, func(*mpi.Info) error { return nil }, l.infos.remove)
}

// infoSet is MPI_Info_set.
func (l *Lib) infoSet(h, key, value uintptr) error {
	const by = call.InfoSet
	i, err := l.someInfo(h, by)
	switch {
	case err != nil:
		return err
	case h == infoEnv:
		return l.fail(mpi.ErrInfo, by, "info is MPI_INFO_ENV, which does not change")
	case pointer(value) == nil:
		return l.fail(mpi.ErrInfoValue, by, "value at %#x, which is no address", value)
	}
	return i.Set(text(key), text(value))
}

// infoDelete is MPI_Info_delete.
func (l *Lib) infoDelete(h, key uintptr) error {
	const by = call.InfoDelete
	i, err := l.someInfo(h, by)
	if err != nil {
		return err
	}
	if h == infoEnv {
		return l.fail(mpi.ErrInfo, by, "info is MPI_INFO_ENV, which does not change")
	}
	name, err := l.key(by, key)
	if err != nil {
		return err
	}
	return i.Delete(name)
}

// key returns the key at an address, after checking its length.
func (l *Lib) key(by call.Number, address uintptr) (string, error) {
	k := text(address)
	if k == "" || len(k) > mpi.MaxInfoKey {
		return "", l.fail(mpi.ErrInfoKey, by, "key of %d bytes, want 1 to %d", len(k), mpi.MaxInfoKey)
	}
	return k, nil
}

// lookup returns the value for the arguments 0 and 1, info and key.
func (l *Lib) lookup(a args, by call.Number) (value string, found bool, err error) {
	i, err := l.someInfo(a.word(0), by)
	if err != nil {
		return "", false, err
	}
	k, err := l.key(by, a.word(1))
	if err != nil {
		return "", false, err
	}
	value, found = i.Get(k)
	return value, found, nil
}

// infoGet is MPI_Info_get, which truncates the value to valuelen bytes.
func (l *Lib) infoGet(a args) error {
	const by = call.InfoGet
	if err := l.need(by, a, "flag", 4); err != nil {
		return err
	}
	value, found, err := l.lookup(a, by)
	switch n := a.int(2); {
	case err != nil:
		return err
	case n < 0:
		return l.fail(mpi.ErrArg, by, "valuelen is %d", n)
	case found:
		if err := l.need(by, a, "value", 3); err != nil {
			return err
		}
		setText(a.word(3), n+1, value)
	}
	a.setBool(4, found)
	return nil
}

// infoGetString is MPI_Info_get_string. buflen is the room on entry and the room needed on
// return, both with the terminating zero.
func (l *Lib) infoGetString(a args) error {
	const by = call.InfoGetString
	if err := l.needs(by, a, result{2, "buflen"}, result{4, "flag"}); err != nil {
		return err
	}
	value, found, err := l.lookup(a, by)
	if err != nil {
		return err
	}
	if found {
		if n := a.numbers(2).get(0); n > 0 {
			if err := l.need(by, a, "value", 3); err != nil {
				return err
			}
			setText(a.word(3), n, value)
		}
		a.setInt(2, len(value)+1)
	}
	a.setBool(4, found)
	return nil
}

// infoValuelen is MPI_Info_get_valuelen.
func (l *Lib) infoValuelen(a args) error {
	if err := l.needs(call.InfoGetValuelen, a, result{2, "valuelen"}, result{3, "flag"}); err != nil {
		return err
	}
	value, found, err := l.lookup(a, call.InfoGetValuelen)
	if err != nil {
		return err
	}
	if found {
		a.setInt(2, len(value))
	}
	a.setBool(3, found)
	return nil
}

// infoKeys is MPI_Info_get_nkeys.
func (l *Lib) infoKeys(h handle) (int, error) {
	i, err := l.someInfo(h, call.InfoGetNkeys)
	return i.NKeys(), err
}

// infoKey is MPI_Info_get_nthkey.
func (l *Lib) infoKey(a args) error {
	if err := l.need(call.InfoGetNthkey, a, "key", 2); err != nil {
		return err
	}
	i, err := l.someInfo(a.word(0), call.InfoGetNthkey)
	if err != nil {
		return err
	}
	k, err := i.NthKey(a.int(1))
	if err != nil {
		return err
	}
	setText(a.word(2), mpi.MaxInfoKey+1, k)
	return nil
}

// infoDup is MPI_Info_dup.
func (l *Lib) infoDup(h handle) (*mpi.Info, error) {
	i, err := l.someInfo(h, call.InfoDup)
	if err != nil {
		return nil, err
	}
	return i.Dup(), nil
}
