// Package kind names the collective operations: their kinds, the forms of their calls, and the calls that are
// collective over a communicator. It knows neither engines nor communicators, so all packages below package coll
// have these names in common.
package kind
