//go:build unix && !linux

package launch

// startWatch does nothing where the launcher cannot read what ranks wait for.
func (j *job) startWatch() (stop func()) { return func() {} }
