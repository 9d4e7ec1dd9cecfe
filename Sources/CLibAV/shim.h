#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/dict.h>
#include <libavutil/mem.h>
#include <libswscale/swscale.h>
#include <errno.h>

// Macros that Swift cannot see.
static const int CLIBAV_EAGAIN = AVERROR(EAGAIN);
static const int CLIBAV_EIO = AVERROR(EIO);
static const int CLIBAV_EINVAL = AVERROR(EINVAL);
static const int CLIBAV_ENOMEM = AVERROR(ENOMEM);
static const int CLIBAV_EOF = AVERROR_EOF;
static const int CLIBAV_EXIT = AVERROR_EXIT;
static const int CLIBAV_EPERM = AVERROR(EPERM);
static const int CLIBAV_PATCHWELCOME = AVERROR_PATCHWELCOME;
static const int CLIBAV_DECODER_NOT_FOUND = AVERROR_DECODER_NOT_FOUND;
static const int64_t CLIBAV_NOPTS = AV_NOPTS_VALUE;
static inline AVRational clibav_time_base_q(void) { return AV_TIME_BASE_Q; }
