#ifndef CONCORD_CVIPS_H
#define CONCORD_CVIPS_H

// Nothing of libvips shows here: its headers, and GLib's below them, are for C alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What this process may use from now on, libvips included.
typedef struct {
    /// Of one core, and of the clock on the wall three times as much.
    unsigned int cpu_seconds;
    /// Of address space, in bytes, on Linux; 0 sets no limit.
    uint64_t memory;
} cvips_limits;

/// Before anything else: closes every descriptor but the standard three, sets the limits, and forbids core dumps and
/// files of more than 0 bytes. False when the system refuses.
bool cvips_limit(cvips_limits limits);

/// Starts libvips with the loaders for JPEG, PNG, WebP, GIF and HEIC, all others blocked. False when it cannot.
bool cvips_start(void);

/// After cvips_start: from now on this process can compute, read and write what it has open, and nothing else. It
/// opens no file, starts no program, reaches no network and signals no other process. False when the system refuses.
/// Elsewhere than on Linux (x86-64 and ARM64) there is no such means, and this does nothing.
bool cvips_confine(void);

typedef enum {
    CVIPS_DONE = 0,
    CVIPS_NOT_AN_IMAGE = 1,
    CVIPS_TOO_LARGE = 2,
} cvips_result;

typedef struct {
    /// In pixels.
    int edge;
    /// A square of exactly this edge, cut around the centre; or else scaled down where it does not fit into that.
    bool crop;
    /// Of the JPEG, 1 to 100.
    int quality;
    /// Width times height of the original, looked at before anything is decoded: of PNG and GIF …
    uint64_t maximum_pixels;
    /// … and of the formats that photos come in.
    uint64_t maximum_jpeg_pixels;
    uint64_t maximum_heic_pixels;
    uint64_t maximum_webp_pixels;
} cvips_options;

/// Reads the image on the descriptor and makes a JPEG of it: upright, sRGB, on white, without metadata. The bytes are
/// the caller's and never freed: one process makes one thumbnail.
cvips_result cvips_thumbnail(int descriptor, cvips_options options, void **bytes, size_t *count);

/// Reads the image on the descriptor and writes it again, in its own format (HEIC as JPEG) and size, with every frame of
/// an animation: upright, in sRGB, without metadata. Of the options only the quality and the pixels count, which are those
/// of all frames together. The bytes are the caller's and never freed.
cvips_result cvips_rewrite(int descriptor, cvips_options options, void **bytes, size_t *count);

/// What libvips has to say about the last failure; valid until the next call.
const char *cvips_message(void);

#endif
