// Package sim carries frames between ranks that are goroutines, with the delays of a model network. Package
// world opens it for mpitest.Simulate, and package replay uses the model, Port, alone for very many ranks.
//
// The model is LogGP (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, 1995): the processor of a rank is
// busy for the overhead o of each frame that it sends or takes, a frame of k bytes leaves at the earliest
// max(g, k G) after the one before, and arrives after the latency L:
//
//	leaves  = max(now, processor free) + o, and not before the one before + max(g, k G)
//	arrives = leaves + k G + L
//	taken   = max(arrives, processor free) + o
//
// Time is that of package time. In a bubble of package testing/synctest time is virtual: it advances
// when all goroutines wait, computation takes none, and a run measures what the model says, on any
// machine. Elsewhere the delays are real ones and at least those of the model. A run takes some milliseconds of
// real time for each rank, up to a thousand ranks or more. Ranks have no shared memory, whichever hosts they are on.
//
// The trap: virtual time passes only while all goroutines wait. A rank that tests a request again and again
// waits for ever. The overhead delays the frames of a rank and not its goroutines: a program that sends without
// ever waiting sees no time pass.
package sim
