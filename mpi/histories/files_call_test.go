package histories_test

import "github.com/halo-mpi/halo/mpi"

// fileMemory is memory that accesses of files move: a Buffer, with the methods of File, or a slice, with
// the functions of the same names.
type fileMemory interface {
	// blocking makes an access that blocks; start and begin those of the other families.
	blocking(f *mpi.File, s family, write bool, at int64) (mpi.Status, error)
	start(f *mpi.File, s family, write bool, at int64) mpi.Request
	begin(f *mpi.File, s family, write bool, at int64) error
}

func (b buffer) blocking(f *mpi.File, s family, write bool, at int64) (mpi.Status, error) {
	switch {
	case s == atOffset && write:
		return f.WriteAt(at, b.Buffer)
	case s == atOffset:
		return f.ReadAt(at, b.Buffer)
	case s == allAtOffset && write:
		return f.WriteAtAll(at, b.Buffer)
	case s == allAtOffset:
		return f.ReadAtAll(at, b.Buffer)
	case write:
		return map[family]func(mpi.Buffer) (mpi.Status, error){atPointer: f.Write, atShared: f.WriteShared, allAtPointer: f.WriteAll, allOrdered: f.WriteOrdered}[s](b.Buffer)
	}
	return map[family]func(mpi.Buffer) (mpi.Status, error){atPointer: f.Read, atShared: f.ReadShared, allAtPointer: f.ReadAll, allOrdered: f.ReadOrdered}[s](b.Buffer)
}

func (b buffer) start(f *mpi.File, s family, write bool, at int64) mpi.Request {
	switch {
	case s == laterAtOffset && write:
		return f.IwriteAt(at, b.Buffer)
	case s == laterAtOffset:
		return f.IreadAt(at, b.Buffer)
	case s == allLaterAtOffset && write:
		return f.IwriteAtAll(at, b.Buffer)
	case s == allLaterAtOffset:
		return f.IreadAtAll(at, b.Buffer)
	case write:
		return map[family]func(mpi.Buffer) mpi.Request{laterAtPointer: f.Iwrite, laterAtShared: f.IwriteShared, allLaterAtPointer: f.IwriteAll}[s](b.Buffer)
	}
	return map[family]func(mpi.Buffer) mpi.Request{laterAtPointer: f.Iread, laterAtShared: f.IreadShared, allLaterAtPointer: f.IreadAll}[s](b.Buffer)
}

func (b buffer) begin(f *mpi.File, s family, write bool, at int64) error {
	switch {
	case s == splitAtOffset && write:
		return f.WriteAtAllBegin(at, b.Buffer)
	case s == splitAtOffset:
		return f.ReadAtAllBegin(at, b.Buffer)
	case write:
		return map[family]func(mpi.Buffer) error{splitAtPointer: f.WriteAllBegin, splitOrdered: f.WriteOrderedBegin}[s](b.Buffer)
	}
	return map[family]func(mpi.Buffer) error{splitAtPointer: f.ReadAllBegin, splitOrdered: f.ReadOrderedBegin}[s](b.Buffer)
}

func (x numbers[T]) blocking(f *mpi.File, s family, write bool, at int64) (mpi.Status, error) {
	switch {
	case s == atOffset && write:
		return mpi.WriteAt(f, at, x)
	case s == atOffset:
		return mpi.ReadAt(f, at, x)
	case s == allAtOffset && write:
		return mpi.WriteAtAll(f, at, x)
	case s == allAtOffset:
		return mpi.ReadAtAll(f, at, x)
	case write:
		return map[family]func(*mpi.File, []T) (mpi.Status, error){atPointer: mpi.Write[T], atShared: mpi.WriteShared[T], allAtPointer: mpi.WriteAll[T], allOrdered: mpi.WriteOrdered[T]}[s](f, x)
	}
	return map[family]func(*mpi.File, []T) (mpi.Status, error){atPointer: mpi.Read[T], atShared: mpi.ReadShared[T], allAtPointer: mpi.ReadAll[T], allOrdered: mpi.ReadOrdered[T]}[s](f, x)
}

func (x numbers[T]) start(f *mpi.File, s family, write bool, at int64) mpi.Request {
	switch {
	case s == laterAtOffset && write:
		return mpi.IwriteAt(f, at, x)
	case s == laterAtOffset:
		return mpi.IreadAt(f, at, x)
	case s == allLaterAtOffset && write:
		return mpi.IwriteAtAll(f, at, x)
	case s == allLaterAtOffset:
		return mpi.IreadAtAll(f, at, x)
	case write:
		return map[family]func(*mpi.File, []T) mpi.Request{laterAtPointer: mpi.Iwrite[T], laterAtShared: mpi.IwriteShared[T], allLaterAtPointer: mpi.IwriteAll[T]}[s](f, x)
	}
	return map[family]func(*mpi.File, []T) mpi.Request{laterAtPointer: mpi.Iread[T], laterAtShared: mpi.IreadShared[T], allLaterAtPointer: mpi.IreadAll[T]}[s](f, x)
}

func (x numbers[T]) begin(f *mpi.File, s family, write bool, at int64) error {
	switch {
	case s == splitAtOffset && write:
		return mpi.WriteAtAllBegin(f, at, x)
	case s == splitAtOffset:
		return mpi.ReadAtAllBegin(f, at, x)
	case write:
		return map[family]func(*mpi.File, []T) error{splitAtPointer: mpi.WriteAllBegin[T], splitOrdered: mpi.WriteOrderedBegin[T]}[s](f, x)
	}
	return map[family]func(*mpi.File, []T) error{splitAtPointer: mpi.ReadAllBegin[T], splitOrdered: mpi.ReadOrderedBegin[T]}[s](f, x)
}

// splitEnd ends a split access.
func splitEnd(f *mpi.File, s family, write bool) (mpi.Status, error) {
	if write {
		return map[family]func() (mpi.Status, error){splitAtOffset: f.WriteAtAllEnd, splitAtPointer: f.WriteAllEnd, splitOrdered: f.WriteOrderedEnd}[s]()
	}
	return map[family]func() (mpi.Status, error){splitAtOffset: f.ReadAtAllEnd, splitAtPointer: f.ReadAllEnd, splitOrdered: f.ReadOrderedEnd}[s]()
}
