// Package tcp carries frames between the processes of a job over TCP. Package world opens it for processes of
// several hosts, or where the user has chosen it; package meet uses it to reach processes of other jobs.
//
// There is one connection per pair of processes, opened at the first Send in
// either direction and authenticated both ways with the job secret (package
// wire describes the handshake) before any frame is parsed. Ordinary goroutines open
// connections (connector, socket). The finished descriptor goes to the data path,
// which makes its own non-blocking system calls under the engine's lock (Fabric,
// link). On other platforms streams does the same with a goroutine for each direction.
//
// Between processes of one host frames are plain, and are read directly into their
// place. Between hosts each frame is sealed, and opened in a staging buffer before
// anything is parsed (wire.Sealed). These connections are also monitored, since the
// kernel does not report a cut cable by itself (reach). The job's table of hosts, which
// is the same for both ends, decides: nothing is negotiated.
//
// On one host half a round trip of 8 bytes takes 3.6 us, and long messages travel at 10 GB/s
// (docs/performance.md). A read costs 0.35 us, and an epoll_wait that finds nothing 0.18 us for all connections.
//
// The trap: the seal proves which process sends, not that it is correct. The layers
// above check what a peer sends, sealed or not.
package tcp
