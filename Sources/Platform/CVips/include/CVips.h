#ifndef CONCORD_CVIPS_H
#define CONCORD_CVIPS_H

// This header exposes nothing of libvips, whose headers, and those of GLib, are included in C only.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The limits of this process, including libvips.
typedef struct {
    /// The CPU time on one core. The limit of elapsed time is three times as long.
    unsigned int cpu_seconds;
    /// The address space in bytes, on Linux; 0 sets no limit.
    uint64_t memory;
} cvips_limits;

/// Closes every descriptor except the standard three, sets the limits, and forbids core dumps and files of more than 0
/// bytes. It must be called first. Returns false if the system refuses.
bool cvips_limit(cvips_limits limits);

/// Starts libvips with the loaders for JPEG, PNG, WebP, GIF and HEIC; all others are blocked. Returns false on failure.
bool cvips_start(void);

/// Confines this process to computing and to reading and writing its open descriptors: it cannot open files, start
/// programs, use the network or signal other processes. It must be called after cvips_start. Returns false if the
/// system refuses. On systems other than Linux (x86-64 and ARM64) it does nothing.
bool cvips_confine(void);

typedef enum {
    CVIPS_DONE = 0,
    CVIPS_NOT_AN_IMAGE = 1,
    CVIPS_TOO_LARGE = 2,
} cvips_result;

typedef struct {
    /// The edge of the result, in pixels.
    int edge;
    /// Whether the result is a square of exactly this edge, cropped around the centre. Otherwise it fits within the
    /// edge.
    bool crop;
    /// The quality of the JPEG, 1 to 100.
    int quality;
    /// The maximum of width times height of the original, for PNG and GIF. It is checked before anything is decoded.
    uint64_t maximum_pixels;
    /// The same maximum for the formats of photos.
    uint64_t maximum_jpeg_pixels;
    uint64_t maximum_heic_pixels;
    uint64_t maximum_webp_pixels;
} cvips_options;

/// Reads the image on the descriptor and makes a JPEG of it: upright, in sRGB, on white, without metadata. The caller
/// owns the bytes and never frees them, because one process makes one thumbnail.
cvips_result cvips_thumbnail(int descriptor, cvips_options options, void **bytes, size_t *count);

/// Reads the image on the descriptor and writes it again, in its own format (HEIC as JPEG) and size, with every frame
/// of an animation: upright, in sRGB, without metadata. Of the options, only the quality and the pixels are used; the
/// pixels are those of all frames together. The caller owns the bytes and never frees them.
cvips_result cvips_rewrite(int descriptor, cvips_options options, void **bytes, size_t *count);

/// Draws a text in white in the middle of a square, and makes a JPEG of it. The square alone is drawn for an empty text, and
/// where no font has its characters. The colour is 0xRRGGBB; of the options, the edge and the quality are used. It must be
/// called before cvips_confine, because fonts are files. The caller owns the bytes and never frees them.
cvips_result cvips_initials(const char *text, uint32_t colour, cvips_options options, void **bytes, size_t *count);

/// Returns the message of libvips about the last failure. It is valid until the next call.
const char *cvips_message(void);

#endif
