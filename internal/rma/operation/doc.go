// Package operation describes one-sided operations (MPI-5, 12.3): what is done, to which memory of the origin, at which
// place of the target, and when its request is complete. It knows neither windows nor processes. Package mpi and package
// file make an Op for each call, package rma carries it out, and both sides of the frames use the same forms.
//
//   - Op is an operation of any kind; Place is its layout at the target. Op.Apply carries it out in mapped memory.
//   - Runs describe such a layout in frames, so that a target needs no datatypes. Cut makes them.
//   - AccumulateWord and CompareWord put kind and type of an atomic operation into a word of a frame.
//   - Fault is the report of a target that it has refused a frame.
//
// The trap: Apply checks no bounds. The caller has compared Place.Span with the memory, and Op.CheckElements has accepted
// the elements. What begins with Decode or Parse takes bytes that a peer may have chosen; its callers check what it returns.
//
// Apply of contiguous bytes costs a few branches beside the copy; between layouts an accumulate is packed in pieces of 4 KiB, and a put
// or get is one copy. Nothing is allocated.
package operation
