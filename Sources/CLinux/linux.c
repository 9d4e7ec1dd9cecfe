#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/securebits.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

enum { most_descriptors = 4 };

ssize_t clinux_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count) {
  if (count > most_descriptors) return errno = EINVAL, -1;
  union {
    char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
    struct cmsghdr align;
  } control = {0};
  struct iovec part = {(void *)bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count) {
    message.msg_control = control.room;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(head), descriptors, sizeof(int) * count);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t clinux_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count) {
  union {
    char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
    struct cmsghdr align;
  } control;
  struct iovec part = {bytes, length};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  size_t most = *count;
  *count = 0;
  ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return -1;
  size_t excess = 0;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t here = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < here; i++) {
      int one;
      memcpy(&one, CMSG_DATA(head) + i * sizeof(int), sizeof one);
      if (*count < most) descriptors[(*count)++] = one;
      else close(one), excess++;
    }
  }
  if (excess || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
    while (*count) close(descriptors[--*count]);
    return errno = EMSGSIZE, -1;
  }
  return got;
}

int clinux_openat2(int folder, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int clinux_statx(int folder, const char *path, int flags, struct statx *status) {
  return statx(folder, path, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, status);
}

int clinux_setfsuid(uid_t user) { return (int)syscall(SYS_setfsuid, user); }
int clinux_setfsgid(gid_t group) { return (int)syscall(SYS_setfsgid, group); }

static __thread mode_t own_mask;

int clinux_own_credentials(void) {
  if (unshare(CLONE_FS)) return -1;
  umask(own_mask = 0);
  return prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
}

void clinux_set_own_mask(mode_t mask) {
  if (mask != own_mask) umask(own_mask = mask);
}

static int capabilities(struct __user_cap_data_struct data[2], int set) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  return (int)syscall(set ? SYS_capset : SYS_capget, &head, data);
}

int clinux_keep_setid(int keep) {
  struct __user_cap_data_struct data[2];
  if (capabilities(data, 0)) return -1;
  unsigned bit = 1u << CAP_FSETID;
  if (!(data[0].permitted & bit)) return 0;
  if (keep) data[0].effective |= bit;
  else data[0].effective &= ~bit;
  return capabilities(data, 1);
}

int clinux_may_administer(void) {
  struct __user_cap_data_struct data[2];
  if (capabilities(data, 0)) return 0;
  return (data[0].effective >> CAP_SYS_ADMIN) & 1;
}

char **clinux_environment(void) { return environ; }
int clinux_set_name(const char *name) { return prctl(PR_SET_NAME, name); }
int clinux_no_new_privs(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
void clinux_keep_memory(int trim, int apart) {
  mallopt(M_TRIM_THRESHOLD, trim);
  mallopt(M_MMAP_THRESHOLD, apart);
}

void clinux_give_memory_back(void) { malloc_trim(0); }
int clinux_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }
int clinux_fcntl(int descriptor, int command, long argument) { return fcntl(descriptor, command, argument); }
int clinux_ioctl(int descriptor, unsigned long request, void *argument) {
  return ioctl(descriptor, request, argument);
}
pid_t clinux_thread_id(void) { return (pid_t)syscall(SYS_gettid); }
int clinux_signal_thread(pid_t process, pid_t thread, int signal) {
  return (int)syscall(SYS_tgkill, process, thread, signal);
}

int clinux_set_slice(uint64_t nanoseconds) {
  // Of the kernel's struct sched_attr, the first form; the C library has no name for it.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .runtime = nanoseconds};
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void nothing(int signal) { (void)signal; }
int clinux_interrupting(int signal) {
  struct sigaction action = {.sa_handler = nothing};
  return sigaction(signal, &action, NULL);
}
int clinux_ignore(int signal) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  return sigaction(signal, &action, NULL);
}

int clinux_peer(int socket, uid_t *user, pid_t *process) {
  struct ucred who;
  socklen_t size = sizeof who;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size)) return -1;
  *user = who.uid;
  *process = who.pid;
  return 0;
}

int clinux_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
int clinux_lock_file(int file) { return flock(file, LOCK_EX | LOCK_NB); }
int clinux_statfs(const char *path, struct statfs *facts) { return statfs(path, facts); }
ssize_t clinux_readlink(const char *path, void *target, size_t size) { return readlink(path, target, size); }
