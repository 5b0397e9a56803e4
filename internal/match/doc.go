// Package match pairs posted receives with arriving messages by their envelopes
// (MPI-5, 3.5 and 3.8): a receive takes the oldest message it matches, a message
// the oldest receive, and a probe sees what a receive would take. Package p2p has a Table for messages,
// and package part one for partitioned messages.
//
// The package knows envelopes only. Requests and messages of the layer above
// embed a Node. Only tables that grow allocate. The package does not synchronise:
// callers hold their lock.
//
// Cost: short queues are scanned and long ones are indexed, so that the cost of an
// operation does not grow with the depth of a queue (see queue). A search reads no
// node. A scan reads one 64-byte slot per entry. A look-up in the index reads a bucket
// and a slot; a receive or probe makes one look-up and a message at most four. With 10 to 10,000 entries in worst
// order a match takes 0.04 to 0.1 us (docs/performance.md, "matching").
//
// The trap: a queue copies the key of a Node. Key and Owner must not change while the Node is queued. The seed of New
// must be random and unknown to peers, which choose tags and could make all of them collide otherwise.
package match
