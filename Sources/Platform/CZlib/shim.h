#ifndef CONCORD_ZLIB_SHIM_H
#define CONCORD_ZLIB_SHIM_H

#include <zlib.h>

// Swift does not see macros that call functions.
static inline int concord_deflate_begin(z_stream *stream, int level) {
    // The window has 15 bits; 16 more ask for gzip's frame.
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

static inline int concord_inflate_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

#endif
