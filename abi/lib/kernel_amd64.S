/*
 * void halo_kernel(const void *function, const uintptr_t words[6])
 *
 * Calls a function of Go's assembly that takes up to six words, returns nothing, and does not use
 * Go's runtime. The function finds its arguments above the return address, and may change all
 * registers but the stack pointer.
 */
	.text
	.globl	halo_kernel
	.hidden	halo_kernel
	.type	halo_kernel, @function
halo_kernel:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$56, %rsp
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	32(%rsi), %xmm2
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	movups	%xmm2, 32(%rsp)
	call	*%rdi
	addq	$56, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	halo_kernel, . - halo_kernel
	.section	.note.GNU-stack, "", @progbits
