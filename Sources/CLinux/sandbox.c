#include "CLinux.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

// Numbers and not <linux/landlock.h>: the header of the build machine may be older than the kernel that it runs on.
enum { landlock_create_ruleset = 444, landlock_restrict_self = 446 };

struct ruleset {
  uint64_t files, ports, scopes;
};

int clinux_landlock_nothing(void) {
  long version = syscall(landlock_create_ruleset, NULL, 0, 1);
  if (version < 1) return -1;
  struct ruleset all = {.files = (1 << 13) - 1};
  size_t size = sizeof all.files;
  if (version >= 2) all.files |= 1 << 13;  // link and rename to another folder
  if (version >= 3) all.files |= 1 << 14;  // truncate
  if (version >= 4) all.ports = 3, size = 2 * sizeof all.files;  // bind and connect
  if (version >= 5) all.files |= 1 << 15;  // ioctl on devices
  if (version >= 6) all.scopes = 3, size = sizeof all;  // abstract sockets, signals
  int ruleset = (int)syscall(landlock_create_ruleset, &all, size, 0);
  if (ruleset < 0) return -1;
  long done = syscall(landlock_restrict_self, ruleset, 0);
  int error = errno;
  close(ruleset);
  errno = error;
  return (int)done;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the sandbox does not know this architecture"
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define IS(value, statement) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), statement
#define MAY(name) IS(__NR_##name, ALLOW)
#define MAY_NOT(name) IS(__NR_##name, REFUSE)
// Allowed unless an argument (its low word, on these little-endian machines) has the bit: load, test, answer, load again.
#define MAY_WITHOUT(name, argument, bit) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]), \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bit), 0, 1), REFUSE, ALLOW

int clinux_seccomp_decoder(void) {
  struct sock_filter filter[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), KILL,
      LOAD(nr),
#if defined(__x86_64__)
      // x32 calls have numbers of their own from here on.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), KILL,
#endif
      // Input, output and messages, on descriptors that are there.
      MAY(pread64), MAY(pwrite64), MAY(write), MAY(ftruncate), MAY(fstat), MAY(lseek), MAY(recvmsg), MAY(sendmsg),
      MAY(close),
      // Memory, never to be executed.
      MAY_WITHOUT(mmap, 2, PROT_EXEC), MAY_WITHOUT(mprotect, 2, PROT_EXEC), MAY(munmap), MAY(mremap), MAY(brk),
      MAY(madvise),
      // Time, chance, locks, this thread.
      MAY(futex), MAY(clock_gettime), MAY(gettimeofday), MAY(nanosleep), MAY(clock_nanosleep), MAY(getrandom),
      MAY(sched_getaffinity), MAY(sched_yield), MAY(gettid), MAY(getpid), MAY(rt_sigprocmask), MAY(rt_sigreturn),
      MAY(rt_sigaction), MAY(sigaltstack), MAY(rseq), MAY(set_robust_list), MAY(restart_syscall), MAY(exit),
      MAY(exit_group),
      // What libraries ask for and do without.
      MAY_NOT(openat), MAY_NOT(readlinkat), MAY_NOT(faccessat), MAY_NOT(newfstatat), MAY_NOT(statx), MAY_NOT(ioctl),
      MAY_NOT(fcntl), MAY_NOT(read), MAY_NOT(prctl), MAY_NOT(sysinfo), MAY_NOT(get_mempolicy), MAY_NOT(set_mempolicy),
      MAY_NOT(uname), MAY_NOT(getuid), MAY_NOT(geteuid), MAY_NOT(prlimit64), MAY_NOT(getcwd), MAY_NOT(socket),
      MAY_NOT(execve), MAY_NOT(clone), MAY_NOT(clone3), MAY_NOT(memfd_create), MAY_NOT(tgkill), MAY_NOT(kill),
#if defined(__x86_64__)
      MAY_NOT(open), MAY_NOT(access), MAY_NOT(readlink), MAY_NOT(stat), MAY_NOT(lstat), MAY_NOT(fork), MAY_NOT(vfork),
#endif
      KILL,
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int clinux_fstat(int descriptor, unsigned *mode, long long *size) {
  struct stat status;
  if (syscall(SYS_fstat, descriptor, &status)) return -1;
  *mode = status.st_mode;
  *size = status.st_size;
  return 0;
}

int clinux_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
