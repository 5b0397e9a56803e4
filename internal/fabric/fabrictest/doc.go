// Package fabrictest is the suite that every fabric passes: tests of the contract in package
// fabric. A fabric's own test calls Run with a function that makes the fabrics of one job; shm, inproc, tcp and
// sim do so. RunPart does a part of the repetitions, for fabrics that share most of their code with another one.
//
// Each fabric is driven as the engine would drive it: by a goroutine of its own,
// under a lock of its own, sleeping without any idle time, so that a lost
// wake-up is a hang, which a watchdog reports with what every rank was doing. After each test the suite searches
// for goroutines, descriptors and memory that it has left behind.
//
// The trap: capabilities are optional. A fabric that does not implement Killer is closed where a peer
// should die, and one that does not implement Injector passes HostilePeer without having met a hostile peer.
package fabrictest
