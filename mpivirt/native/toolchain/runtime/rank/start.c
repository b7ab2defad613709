/* Linked into every program and every shared library of a program's own. The loader calls
 * gigarank_start before the constructors of the object, which each rank calls by itself. */
#include "rank/object_constructors.h"

extern const char _DYNAMIC[] __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) void gigarank_start(void) { gigarank_hold(_DYNAMIC); }
