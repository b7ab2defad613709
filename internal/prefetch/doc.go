// Package prefetch asks the processor to load cache lines before they are needed.
//
// # Model
//
// A million ranks fit into no cache. A resumption of a rank that has waited long would miss the cache line by
// line, some hundred nanoseconds each. Callers therefore prefetch the lines of a rank that comes some resumptions
// later, so that the misses are served side by side.
//
// # Invariants
//
//   - No function reads data or faults: any address is allowed, also of memory that has been freed.
//   - Nothing has an effect on results. On processors other than amd64 and arm64 the functions do nothing.
//
// # Sources
//
// PREFETCHT0 and PREFETCHW: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. PRFM: Arm
// Architecture Reference Manual for A-profile, section C6.2.
//
// # Use
//
//	prefetch.Pair(unsafe.Pointer(&boxes[next])) // some turns before boxes[next] is read
package prefetch
