// Package talk is what launcher and agents say to each other: the kinds of frames (package frame) and their order, how
// frames are queued (Outbox), how either side notices that the other is gone (Liveness), and how streams of ranks travel
// with a bound on what is in transit (Carrier, Feed).
//
// The agent of a host and the job of the launcher are the two ends. Heartbeats of an agent to its warden use Liveness, too.
//
// Versions of both ends may differ: Hello, its framing and Magic must not change, and all else needs another Version.
package talk
