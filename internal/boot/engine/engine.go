package engine

import (
	"context"
	"errors"
)

// ErrUnsupported is the error of a request that an engine does not have.
var ErrUnsupported = errors.New("the job engine has no such service")

// ErrLost is the error when the connection to the server of the engine has ended: the job is over,
// or the server is.
var ErrLost = errors.New("the job engine has ended")

// Identity is what an engine says about a process. It does not change.
type Identity struct {
	Job      string // unique name of the job, safe to print: see CheckKey for its alphabet
	Rank     int    // index of this process in the job
	Size     int    // processes in the job
	AppNum   int    // which block of an MPMD command line it belongs to, -1 unknown
	Universe int    // processes for which the engine has room, -1 unknown
	Engine   string // name and version, for messages, such as "Hydra (PMI 1.1)"
}

// A Client is the connection of a process to the server of its job engine. Its methods may be called
// by several goroutines; a request waits until the one before is answered. An error names the engine,
// the request and the rank. It is an ErrLost if the connection has ended.
type Client interface {
	// Identity returns the place of this process in its job.
	Identity() Identity

	// Nodes returns the number of the node on which each rank runs, or nil if the engine does not
	// say. Nodes are numbered from 0 without gaps.
	Nodes() ([]int, error)

	// Put stores the value of this process for a key: see CheckKey and CheckValue. Others see it
	// after a Fence.
	Put(key, value string) error

	// Fence makes values visible. It is collective over the job. It is not a barrier: with some
	// engines a process leaves it before others have entered.
	Fence() error

	// Get returns the value that rank has put for a key before the last Fence. ok is false if there
	// is none.
	Get(key string, rank int) (value string, ok bool, err error)

	// Publish makes the value of this process for a name known to the others, without a Fence. The error
	// is an ErrUnsupported if the engine has no such store.
	Publish(name, value string) error

	// Lookup returns the value that rank has published for a name. It waits until there is one, or until
	// ctx ends.
	Lookup(ctx context.Context, name string, rank int) (string, error)

	// Abort ends the job, with code as its exit status if the engine keeps the code.
	Abort(code int, reason string) error

	// Finalize tells the engine that the end of this process is no failure, and ends the connection.
	Finalize() error

	// Lost is closed when the connection to the server has ended.
	Lost() <-chan struct{}
}
