// Package wording makes parts of messages of the launcher: lists of ranks, numbers with their nouns, and texts of other
// programs in one line.
//
// Text that comes from another host or program is untrusted: Printable or OneLine belongs around it.
package wording
