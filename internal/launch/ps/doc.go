// Package ps tells what the ranks of running jobs do and wait for: the table of halo ps, which the launcher also prints
// after SIGQUIT and -timeout, and whether the ranks wait for each other, for -watch.
//
// It reads the wait notes that ranks write into memory of their launcher (shmfmt.Note), and what the system reports about
// the processes. Agents send a JobState to the launcher, whose jobs may have ranks on several hosts.
//
// All of it is seen from outside, while the ranks go on: a state is that of one moment, and a rank may have ended when
// its state is printed.
package ps
