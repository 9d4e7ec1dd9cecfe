#pragma once
// What the worker locks itself in with. Every call answers 0, or -1 and errno.

/// Landlock without any path or port: nothing can be opened by name any more. ENOSYS or EOPNOTSUPP where the kernel has none.
/// Needs no_new_privs.
int clinux_landlock_nothing(void);

/// The calls that a decoding process may make; all others are refused (EACCES) or end the process. Needs no_new_privs.
int clinux_seccomp_decoder(void);

/// fstat(2) as such: glibc's asks newfstatat, which could also ask about names and is therefore refused.
int clinux_fstat(int descriptor, unsigned *mode, long long *size);

/// Neither a core file nor ptrace by the same user.
int clinux_not_dumpable(void);
