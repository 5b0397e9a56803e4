//go:build !linux

package tcp

// Fabric is the data path where raw descriptors are not to be had.
type Fabric = streams

// Listen opens the port of a process and answers its peers from then on. The
// address is for them to know, for Start.
func Listen(c Config) (*Fabric, string, error) { return listenStreams(c) }
