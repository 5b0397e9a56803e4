// Package exit has the exit statuses of the launcher, as timeout(1), env(1) and shells use them, and the error that
// carries one. All packages of the launcher use it.
//
// Only the launcher's own failures have these statuses. A job that has started ends with the status of a rank, which
// may be any number, these ones too.
package exit
