// Analyze runs the analyzers of go vet and staticcheck. Its arguments are platforms (linux/arm64), for
// which it analyzes the module in the current folder, and folders of other modules (./vet), which it
// analyzes for this machine. It prints what the analyzers report, and what does not compile, and
// exits with status 1 if that is anything. It is make analyze.
//
// The packages of a platform are read and type-checked once, from source, for all analyzers. The two
// tools would each read them, and want the packages of each platform compiled before.
//
// The trap: files that a platform before has are only type-checked again, since the analyzers look at packages that
// have a file which none before has. So the order of the platforms matters: the first one is analyzed in full. What
// this machine's platform has in a build with the race detector is analyzed, too.
package main
