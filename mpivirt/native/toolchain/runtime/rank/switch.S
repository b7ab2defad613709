/* gigarank_switch(void **from, void *to) stores the stack pointer in *from, after the
 * registers that a call preserves, and goes on with the stack pointer to. gigarank_begin is
 * where a new stack goes on: it calls gigarank_rank_main. */

#if defined(__x86_64__)

/* SWITCH is the code of a switch up to its return. The states of the floating-point units are mostly the same: to load them takes longer
 * than to compare them. */
#define SWITCH \
	pushq %rbp; \
	pushq %rbx; \
	pushq %r12; \
	pushq %r13; \
	pushq %r14; \
	pushq %r15; \
	subq $8, %rsp; \
	stmxcsr (%rsp); \
	fnstcw 4(%rsp); \
	movl (%rsp), %eax; \
	movzwl 4(%rsp), %edx; \
	movq %rsp, (%rdi); \
	movq %rsi, %rsp; \
	cmpl (%rsp), %eax; \
	je 1f; \
	ldmxcsr (%rsp); \
1:	cmpw 4(%rsp), %dx; \
	je 2f; \
	fldcw 4(%rsp); \
2:	addq $8, %rsp; \
	popq %r15; \
	popq %r14; \
	popq %r13; \
	popq %r12; \
	popq %rbx; \
	popq %rbp

	.text
	.globl gigarank_switch
	.hidden gigarank_switch
	.type gigarank_switch, @function
gigarank_switch:
	SWITCH
	ret
	.size gigarank_switch, .-gigarank_switch

	.globl gigarank_switch_back
	.hidden gigarank_switch_back
	.type gigarank_switch_back, @function
gigarank_switch_back:
	SWITCH
	popq %rcx
	jmp *%rcx
	.size gigarank_switch_back, .-gigarank_switch_back

	.globl gigarank_begin
	.hidden gigarank_begin
	.type gigarank_begin, @function
gigarank_begin:
	.cfi_startproc
	.cfi_undefined rip
	call gigarank_rank_main
	ud2
	.cfi_endproc
	.size gigarank_begin, .-gigarank_begin

#elif defined(__aarch64__)

	.text
	.globl gigarank_switch
	.hidden gigarank_switch
	.type gigarank_switch, %function
gigarank_switch:
	stp x29, x30, [sp, #-176]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mrs x10, fpcr
	str x10, [sp, #160]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldr x9, [sp, #160]
	cmp x9, x10 /* to write it costs more */
	b.eq 1f
	msr fpcr, x9
1:
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	ldp x29, x30, [sp], #176
	ret
	.size gigarank_switch, .-gigarank_switch

	.globl gigarank_begin
	.hidden gigarank_begin
	.type gigarank_begin, %function
gigarank_begin:
	.cfi_startproc
	.cfi_undefined x30
	bl gigarank_rank_main
	brk #1
	.cfi_endproc
	.size gigarank_begin, .-gigarank_begin

#else
#error "native ranks need amd64 or arm64"
#endif

/* gigarank_reads(first, last) and gigarank_writes(first, last) access two bytes and return 0. A
 * signal between them and gigarank_probed makes the thread go on in gigarank_not_there. */

	.text
	.globl gigarank_reads, gigarank_writes, gigarank_probed, gigarank_not_there
	.hidden gigarank_reads, gigarank_writes, gigarank_probed, gigarank_not_there
	.type gigarank_reads, %function
	.type gigarank_writes, %function
	.type gigarank_not_there, %function

#if defined(__x86_64__)
gigarank_reads:
	movb (%rdi), %al
	movb (%rsi), %al
	xorl %eax, %eax
	ret
gigarank_writes:
	movb (%rdi), %al
	movb %al, (%rdi)
	movb (%rsi), %al
	movb %al, (%rsi)
gigarank_probed:
	xorl %eax, %eax
	ret
gigarank_not_there:
	movl $1, %eax
	ret
#else
gigarank_reads:
	ldrb w2, [x0]
	ldrb w2, [x1]
	mov w0, #0
	ret
gigarank_writes:
	ldrb w2, [x0]
	strb w2, [x0]
	ldrb w2, [x1]
	strb w2, [x1]
gigarank_probed:
	mov w0, #0
	ret
gigarank_not_there:
	mov w0, #1
	ret
#endif

	.section .note.GNU-stack, "", %progbits
