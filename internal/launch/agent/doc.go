// Package agent runs the ranks of one host: it starts, connects, signals and reaps them, carries their output, and leaves
// nothing behind, even if its process is killed (see Warden). One Agent is part of the launcher; on each other host a
// process of its own contains one (Main).
//
// An Agent makes no decision about the job. It reports to a Reporter, which is the job itself or, on another host, what
// sends frames to the launcher.
//
// One goroutine owns all agents of a process: the loop, which runs what they post. Every method is called there, except
// for those of sessions of ranks, and a call from elsewhere may signal a process id that the system has reused.
package agent
