/* Switches between stacks, and accesses of memory that may fault; see switch.S. */
#ifndef GIGARANK_RANK_SWITCH_H
#define GIGARANK_RANK_SWITCH_H

#pragma GCC visibility push(hidden)

/* gigarank_switch stores the stack pointer and goes on with another stack pointer; see switch.S. */
void gigarank_switch(void **from, void *to);

/* gigarank_enter switches from the engine to a rank, and gigarank_switch_back from the rank to the engine. A processor foretells where functions return by the
 * calls that it has seen. Ranks mostly wait in the same functions: so gigarank_enter makes no call, and the return to the rank is taken for that of
 * the rank before, which has gone back by a jump. Otherwise each return up to the program's code is foretold wrong. */
#if defined(__x86_64__)
void gigarank_switch_back(void **from, void *to);
static inline void gigarank_enter(void **from, void *to) {
	__asm__ volatile("subq $128, %%rsp\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\tjmp gigarank_switch\n1:\taddq $128, %%rsp"
		: "+D"(from), "+S"(to)
		:
		: "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
		"xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
}
#else
#define gigarank_enter gigarank_switch
#define gigarank_switch_back gigarank_switch
#endif

/* gigarank_begin is where a new stack goes on: it calls gigarank_rank_main. */
extern char gigarank_begin[];

/* gigarank_reads and gigarank_writes access two bytes. They return 0, and another value if a byte cannot be
 * accessed. */
int gigarank_reads(const void *first, const void *last);
int gigarank_writes(void *first, void *last);

/* A signal in the code from gigarank_reads up to gigarank_probed makes the thread go on at gigarank_not_there. */
extern char gigarank_probed[], gigarank_not_there[];

#pragma GCC visibility pop

#endif
