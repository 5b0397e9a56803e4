// Package waitsim simulates in virtual time how ranks wait for each other on cores that others use, too. Its tests
// hold the policy of package proc to bounds before it runs on a machine, and people try other policies with it.
//
// A simulation has cores with a fair scheduler (see sim), ranks that alternate computation and an exchange with their peers,
// each bound to a core of its own, and strangers: threads that compute on a core all the time between their coming and their
// going. Ranks wait as a proc.Policy says; proc.Core, which package proc itself uses, decides when a waiter polls on. The times
// that a Machine needs are measured by bench/loadedcore.
//
// Run says what a policy costs on a schedule, and Clairvoyant what a waiter would pay that knows when what it waits for will
// happen. See Result for what counts as cost. docs/waiting.md has the results.
//
// The trap: strangers are bound to their cores. Those of a real machine move to idle ones.
package waitsim
