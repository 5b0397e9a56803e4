//go:build !linux

package tcp

// Fabric is the data path for platforms without support for raw descriptors.
type Fabric = streams

// Listen opens the port of a process and accepts its peers from then on. The peers
// need the address for Start.
func Listen(c Config) (*Fabric, string, error) { return listenStreams(c) }
