#pragma once
// What Linux has and Swift's Glibc module does not show, and the few calls that need C (variadics, macros).
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "CLinuxSandbox.h"

// Every call below answers as a system call does: -1 and errno, or the result.

/// Sends bytes and up to 4 descriptors as one message.
ssize_t clinux_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count);
/// Receives one message and up to 4 descriptors (close-on-exec); a truncated message is EMSGSIZE, its descriptors closed.
ssize_t clinux_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count);

/// open(2) relative to a folder, under the RESOLVE_ flags given (`linux/openat2.h`).
int clinux_openat2(int folder, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/// statx(2) for the basic facts and the birth time; its name is a type's too, which Swift cannot tell apart.
int clinux_statx(int folder, const char *path, int flags, struct statx *status);

/// For this thread alone; glibc's wrappers would be enough for these two, raw calls say so.
int clinux_setfsuid(uid_t user);
int clinux_setfsgid(gid_t group);
/// Capabilities stay when fsuid changes, and the thread gets its own umask and working folder.
int clinux_own_credentials(void);
/// umask(2) in a thread with credentials of its own; no call where it is so already.
void clinux_set_own_mask(mode_t mask);
/// Raises or drops CAP_FSETID in this thread's effective set.
int clinux_keep_setid(int keep);
/// Whether this process has CAP_SYS_ADMIN now.
int clinux_may_administer(void);

/// This process's environment; Swift cannot tell the C library's two declarations apart.
char **clinux_environment(void);
int clinux_set_name(const char *name);
int clinux_no_new_privs(void);
int clinux_die_with_parent(int signal);
/// malloc gives nothing back to the kernel below `trim` bytes, and takes pieces of `apart` bytes and more apart from the rest.
void clinux_keep_memory(int trim, int apart);
/// Gives the kernel back what malloc keeps of freed memory; malloc.h is not in Glibc's module.
void clinux_give_memory_back(void);
int clinux_fcntl(int descriptor, int command, long argument);
int clinux_ioctl(int descriptor, unsigned long request, void *argument);
pid_t clinux_thread_id(void);
int clinux_signal_thread(pid_t process, pid_t thread, int signal);
/// The length of the calling thread's turns on a processor, in nanoseconds; the shorter, the sooner they come. Kernels before 6.12 take it and do nothing.
int clinux_set_slice(uint64_t nanoseconds);
/// A handler that does nothing, without SA_RESTART: the signal only ends a blocking call.
int clinux_interrupting(int signal);
int clinux_ignore(int signal);
/// The user id at the other end of a Unix socket.
int clinux_peer(int socket, uid_t *user, pid_t *process);
/// A descriptor that stands for a process and becomes readable at its end.
int clinux_open_process(pid_t process);
/// flock(2), exclusive, EAGAIN when held; its name is a type's too, which Swift cannot tell apart.
int clinux_lock_file(int file);
/// statfs(2) and readlink(2): the one's name is a type's too, the other's buffer is no text here.
int clinux_statfs(const char *path, struct statfs *facts);
ssize_t clinux_readlink(const char *path, void *target, size_t size);
