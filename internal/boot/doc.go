// Package boot is how a process learns which job it belongs to: from Halo's launcher, from a table in the
// same OS process (ranks that are goroutines: Memory), or, if no launcher started it, as a world of one (Single).
// Package boot/joined adds job engines. A Boot is the connection to whoever knows the job, and a Job what a
// process knows from the start.
//
// Package world opens a Boot and uses it for all that a process asks of its launcher; package launch, and
// boot/joined in a process that serves its node, are the other side, by a Server.
//
// A launcher and a program that it started communicate over a Unix socket pair. The program finds the
// descriptor of its end in the environment variable HALO_BOOT_FD; all secrets come over the socket. Both send
// frames: frame.go lists them. A process that begins with the text "cmd=" instead speaks another protocol,
// PMI-1: see Plain.
//
// To start four ranks, from the launcher's start to the end of all, takes some 19 ms (docs/performance.md, "init
// 4 ranks").
//
// The trap: program and launcher may be of different versions, since each is built by itself. Hello, Refused and
// their framing must not change in later versions, so that each side can report to the other which version it
// needs; any other change of a frame increments ProtocolVersion.
package boot
