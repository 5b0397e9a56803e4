package file

// Store is what a file consists of, for tests that put a layer below all accesses: filetest.
type Store = store

// Wrap has files that this process opens from now on use what wrap returns, given what they would use.
func (e *Engine) Wrap(wrap func(Store) Store) { e.wrap = wrap }
