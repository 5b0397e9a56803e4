// Package wire defines the frame every fabric carries: a fixed header of 40
// bytes followed by at most MaxPayload bytes. Shared-memory rings and TCP streams contain
// the same five little-endian words, so that one decoder, one fuzz target and one golden
// file cover both. The fabrics carry frames, and p2p, part and rma define what each Kind means.
//
//	word 0   size uint32 | kind uint8 | flags uint8 | channel uint16
//	word 1   ctx  uint64   context id of a communicator
//	word 2   tag  int32  | aux uint32
//	word 3   arg  uint64   total length of a message, or offset of a chunk
//	word 4   name uint64   handle of a request of sender or receiver (never a pointer)
//
// Word 0 is never zero in a valid frame, because kind is not: a ring publishes
// a frame by storing word 0 last.
//
// The package also has the handshake by which two processes prove to know a secret (handshake.go), the records that
// seal frames between hosts (record.go), and a stream for all else that must be sealed (Stream).
//
// The trap: a frame is input from a process that may be wrong or hostile. A Header that was decoded is well-formed and
// nothing more; who handles it checks sizes, handles and state. A change of the format increments Version, which
// program and launcher compare first (package boot).
package wire
