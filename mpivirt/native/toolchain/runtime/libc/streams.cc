// The standard streams of C++, for programs that use them: linked into the program, whose ranks have
// variables of their own. All ranks of all engines would share the streams of libstdc++. This file is
// compiled twice, with WIDE for streams of wide characters. All symbols are weak: a program may have libstdc++
// linked into itself.
#include <ext/stdio_sync_filebuf.h>

#include <cstdio>
#include <istream>
#include <new>
#include <ostream>

#define WEAK __attribute__((weak))

#ifdef WIDE
#define STREAM(name) w##name
#define STREAMS gigarank_wide_streams
typedef wchar_t character;
#else
#define STREAM(name) name
#define STREAMS gigarank_streams
typedef char character;
#endif

typedef std::basic_ostream<character> output;
typedef std::basic_istream<character> input;
typedef __gnu_cxx::stdio_sync_filebuf<character> file;

namespace std {
// Room for the streams, which are made before the constructors of the program and are never destroyed.
alignas(output) WEAK char STREAM(cout)[sizeof(output)], STREAM(cerr)[sizeof(output)], STREAM(clog)[sizeof(output)];
alignas(input) WEAK char STREAM(cin)[sizeof(input)];

#ifndef WIDE
// Streams have no buffers of their own, so that nothing need be done for them to be in step with
// stdio. They stay so, as an implementation may.
WEAK bool ios_base::sync_with_stdio(bool) { return true; }
#endif
} // namespace std

alignas(file) static char files[3][sizeof(file)];
static bool made;

// A rank calls it before any constructor.
extern "C" void STREAMS() {
	if (made)
		return;
	made = true;
	output *out = new (std::STREAM(cout)) output(new (files[0]) file(stdout));
	input *in = new (std::STREAM(cin)) input(new (files[1]) file(stdin));
	file *errors = new (files[2]) file(stderr);
	output *error = new (std::STREAM(cerr)) output(errors);
	new (std::STREAM(clog)) output(errors);
	in->tie(out);
	error->setf(std::ios_base::unitbuf);
	error->tie(out);
}

// A program that is run by itself has no rank that calls it.
namespace {
struct Maker {
	Maker() { STREAMS(); }
};
Maker maker __attribute__((init_priority(101)));
} // namespace
