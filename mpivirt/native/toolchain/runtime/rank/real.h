/* The functions of the C library that functions of the runtime hide by their names. */
#ifndef GIGARANK_RANK_REAL_H
#define GIGARANK_RANK_REAL_H

#include <dlfcn.h>

/* real returns the function of the C library that a name of the runtime hides. */
#define real(name) ({ \
	static __typeof__(&name) real_; \
	if (!real_) \
		real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
	real_; \
})

#endif
