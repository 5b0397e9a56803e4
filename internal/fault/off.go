//go:build !faults

package fault

// Package apply: elements of accumulates.
const (
	// AddInTwo adds to an element of 8 bytes by a load and a store.
	AddInTwo = false
	// NeighbourStored stores the word around a small element as it was read, neighbours
	// included.
	NeighbourStored = false
	// StripeOfTheEnd has compare_and_swap take the stripe in which an element ends, not the
	// one in which it begins.
	StripeOfTheEnd = false
	// FetchedOutside reads what many elements were before their stripe is locked.
	FetchedOutside = false
	// HalvesStored stores elements of 16 bytes by halves, so that a kill may come between.
	HalvesStored = false
)

// Package shmfmt: stripes, the passive lock, attach tables.
const (
	// ReaderSilent has readers of a stripe not announce themselves.
	ReaderSilent = false
	// ReaderLooksFirst has readers of a stripe look for a writer before they announce
	// themselves, as if the fence between were missing.
	ReaderLooksFirst = false
	// FavourBlind lets a favoured process write beside readers in its stripe.
	FavourBlind = false
	// WriterNotReaped leaves the claim of a dead writer in its stripe.
	WriterNotReaped = false
	// LockShared drops exclusive locks: they are claimed shared.
	LockShared = false
	// LockTwice grants a lock beside one who has it.
	LockTwice = false
	// DrawerPassed passes over those who are drawing a ticket of a lock.
	DrawerPassed = false
	// HeirNotTold does not tell the next that the holder of a lock died.
	HeirNotTold = false
	// WakesOneReader wakes one of several that have a lock when it is released.
	WakesOneReader = false
	// AttachByOne finds one byte more than what is attached.
	AttachByOne = false
)

// Packages heap, proc and p2p, as far as one-sided communication needs them.
const (
	// FreedTwice finds blocks of a heap that are free already.
	FreedTwice = false
	// BlockDirty hands out blocks of a heap with what was left in them.
	BlockDirty = false
	// BacklogPassed sends frames past those that wait for room.
	BacklogPassed = false
	// ArmedBlind lets a service sleep without a look after it has armed: what came in between
	// wakes nobody.
	ArmedBlind = false
	// WatcherForgotten does not wake who watches a word when a process dies.
	WatcherForgotten = false
	// NameStale takes answers to the name of an operation that is over.
	NameStale = false
)
