#pragma once
// 312 is the newest API of libfuse 3.14; newer libraries serve it as well.
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <fuse_log.h>
#include <stdlib.h>

// A macro in libfuse 3.17, a function before: Swift sees only functions.
static inline struct fuse_session *cfuse_session_new(struct fuse_args *args, const struct fuse_lowlevel_ops *ops,
                                                     size_t size, void *userdata) {
  return fuse_session_new(args, ops, size, userdata);
}

// `want` became 64 bits wide and private to helpers in libfuse 3.17.
static inline void cfuse_want(struct fuse_conn_info *conn, unsigned capability) {
  if (conn->capable & capability) conn->want |= capability;
}
static inline void cfuse_unwant(struct fuse_conn_info *conn, unsigned capability) { conn->want &= ~capability; }
