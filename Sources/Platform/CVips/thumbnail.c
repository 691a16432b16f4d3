#include "CVips.h"

#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

bool cvips_start(void) {
    // Otherwise libvips generates machine code, for which cvips_confine leaves no executable memory.
    setenv("VIPS_NOVECTOR", "1", 1);
    // Data that is needed as a whole stays in memory, which is limited: the process cannot write files.
    setenv("VIPS_DISC_THRESHOLD", "4g", 1);
    if (vips_init("thumbnail") != 0) return false;
    static const char *const loaders[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadNsgif",
        "VipsForeignLoadHeif",
    };
    vips_operation_block_set("VipsForeignLoad", TRUE);
    for (size_t index = 0; index < G_N_ELEMENTS(loaders); index++)
        vips_operation_block_set(loaders[index], FALSE);
    // A process handles one image. Several images are handled by several processes.
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    return true;
}

const char *cvips_message(void) { return vips_error_buffer(); }

/// The facts in the header of an image.
typedef struct {
    const char *loader;
    uint64_t width, height;
} header;

static uint64_t limit_for(const char *loader, const cvips_options *options) {
    if (g_str_has_prefix(loader, "jpegload")) return options->maximum_jpeg_pixels;
    if (g_str_has_prefix(loader, "heifload")) return options->maximum_heic_pixels;
    if (g_str_has_prefix(loader, "webpload")) return options->maximum_webp_pixels;
    return options->maximum_pixels;
}

/// Reads the header of an image, and checks it.
static cvips_result inspect(VipsSource *source, const cvips_options *options, header *found) {
    // libvips 8.14 would crash on an empty file.
    if (vips_source_sniff(source, 4) == NULL) return CVIPS_NOT_AN_IMAGE;
    VipsImage *image = vips_image_new_from_source(source, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    if (image == NULL) return CVIPS_NOT_AN_IMAGE;
    cvips_result result = CVIPS_DONE;
    const char *loader = NULL;
    const char *codec;
    found->width = (uint64_t)vips_image_get_width(image);
    found->height = (uint64_t)vips_image_get_height(image);
    if (vips_image_get_string(image, VIPS_META_LOADER, &loader) != 0)
        result = CVIPS_NOT_AN_IMAGE;
    // The container of HEIC may contain other codecs (AVIF). Only HEVC is one of the five formats.
    else if (vips_image_get_typeof(image, "heif-compression") != 0
             && (vips_image_get_string(image, "heif-compression", &codec) != 0 || strcmp(codec, "hevc") != 0))
        result = CVIPS_NOT_AN_IMAGE;
    else if (found->width * found->height > limit_for(loader, options))
        result = CVIPS_TOO_LARGE;
    found->loader = result == CVIPS_DONE ? g_intern_string(loader) : NULL;
    g_object_unref(image);
    return result;
}

/// Replaces an image.
static bool replace(VipsImage **image, VipsImage *by) {
    if (by == NULL) return false;
    g_object_unref(*image);
    *image = by;
    return true;
}

/// Converts an image's colours to sRGB. An image with no profile or an invalid one keeps its colour values, as in
/// viewers; the colours of a CMYK image are then those of a typical press.
static bool bring_into_srgb(VipsImage **image) {
    VipsImage *made = NULL;
    if (vips_image_get_typeof(*image, VIPS_META_ICC_NAME) != 0) {
        if (vips_icc_transform(*image, &made, "srgb", "embedded", TRUE, NULL) == 0) return replace(image, made);
        vips_error_clear();
        made = NULL;
    }
    return vips_colourspace(*image, &made, VIPS_INTERPRETATION_sRGB, NULL) == 0 && replace(image, made);
}

static bool encode(VipsImage *image, int quality, void **bytes, size_t *count) {
    VipsImage *coloured = NULL;
    VipsImage *opaque = NULL;
    const double white[] = {255, 255, 255};
    VipsArrayDouble *background = vips_array_double_new(white, 3);
    bool done = vips_colourspace(image, &coloured, VIPS_INTERPRETATION_sRGB, NULL) == 0
        && (vips_image_hasalpha(coloured) ? vips_flatten(coloured, &opaque, "background", background, NULL)
                                          : vips_copy(coloured, &opaque, NULL)) == 0
        && vips_jpegsave_buffer(opaque, bytes, count, "Q", quality, "optimize_coding", TRUE, "strip", TRUE, NULL) == 0;
    vips_area_unref(VIPS_AREA(background));
    g_clear_object(&coloured);
    g_clear_object(&opaque);
    return done;
}

/// The line length, in pixels, up to which reading line by line costs more than decoding.
#define NARROW 200

/// Returns how an image is read: line by line, or as a whole if that takes little memory for its number of lines.
static VipsAccess access_to(const header *found) {
    return found->width < NARROW ? VIPS_ACCESS_RANDOM : VIPS_ACCESS_SEQUENTIAL;
}

/// Crops the longer edge to the length of the shorter one, around the centre.
static bool cut_to_square(VipsImage **image) {
    VipsImage *made = NULL;
    int width = vips_image_get_width(*image);
    int height = vips_image_get_height(*image);
    int edge = MIN(width, height);
    return vips_extract_area(*image, &made, (width - edge) / 2, (height - edge) / 2, edge, edge, NULL) == 0
        && replace(image, made);
}

/// Scales an image, without converting its colours.
static VipsImage *scaled(VipsSource *source, const header *found, const cvips_options *options) {
    VipsImage *made = NULL;
    VipsSize size = options->crop ? VIPS_SIZE_BOTH : VIPS_SIZE_DOWN;
    VipsInteresting crop = options->crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE;
    // A strip narrower than the square would be scaled up completely, to a thousand times its size, and then cropped.
    bool is_strip = options->crop && MIN(found->width, found->height) < (uint64_t)options->edge;
    if (is_strip || found->width < NARROW) {
        VipsImage *image =
            vips_image_new_from_source(source, "[fail_on=error]", "access", VIPS_ACCESS_RANDOM, NULL);
        if (image == NULL) return NULL;
        int status = is_strip && !cut_to_square(&image)
            ? -1
            : vips_thumbnail_image(image, &made, options->edge, "size", size, "crop", crop, NULL);
        g_object_unref(image);
        return status == 0 ? made : NULL;
    }
    // A truncated image is refused. The option is set on the loader, because libvips does not pass "fail_on" to it.
    int status = vips_thumbnail_source(
        source, &made, options->edge, "size", size, "crop", crop, "option_string", "[fail_on=error]", NULL);
    return status == 0 ? made : NULL;
}

cvips_result cvips_thumbnail(int descriptor, cvips_options options, void **bytes, size_t *count) {
    vips_error_clear();
    VipsSource *source = vips_source_new_from_descriptor(descriptor);
    if (source == NULL) return CVIPS_NOT_AN_IMAGE;
    header found;
    cvips_result result = inspect(source, &options, &found);
    if (result == CVIPS_DONE) {
        VipsImage *image = scaled(source, &found, &options);
        if (image == NULL || !bring_into_srgb(&image) || !encode(image, options.quality, bytes, count))
            result = CVIPS_NOT_AN_IMAGE;
        g_clear_object(&image);
    }
    g_object_unref(source);
    return result;
}

/// Rotates an image upright and converts its colours to sRGB, unless they already are.
static bool normalise(VipsImage **image) {
    VipsImage *made = NULL;
    if (vips_image_get_orientation(*image) > 1) {
        // The rotation needs the lines in another order than that of reading.
        if (!replace(image, vips_image_copy_memory(*image))) return false;
        if (vips_autorot(*image, &made, NULL) != 0 || !replace(image, made)) return false;
    }
    return bring_into_srgb(image);
}

/// Removes all metadata about the camera, the location and the author. It is removed here because the WebP saver
/// ignores "strip".
static bool forget(VipsImage **image) {
    VipsImage *made = NULL;
    if (vips_copy(*image, &made, NULL) != 0 || !replace(image, made)) return false;
    gchar **fields = vips_image_get_fields(*image);
    for (size_t index = 0; fields != NULL && fields[index] != NULL; index++) {
        const char *name = fields[index];
        if (strstr(name, "exif") != NULL || strstr(name, "comment") != NULL || strstr(name, "-data") != NULL
            || strcmp(name, VIPS_META_ORIENTATION) == 0)
            vips_image_remove(*image, name);
    }
    g_strfreev(fields);
    return true;
}

static bool write_as(const char *loader, VipsImage *image, int quality, void **bytes, size_t *count) {
    if (strcmp(loader, "VipsForeignLoadPngSource") == 0)
        return vips_pngsave_buffer(image, bytes, count, "strip", TRUE, "bitdepth", 8, NULL) == 0;
    if (strcmp(loader, "VipsForeignLoadWebpSource") == 0)
        return vips_webpsave_buffer(image, bytes, count, "strip", TRUE, "Q", quality, NULL) == 0;
    if (strcmp(loader, "VipsForeignLoadNsgifSource") == 0)
        return vips_gifsave_buffer(image, bytes, count, "strip", TRUE, NULL) == 0;
    return encode(image, quality, bytes, count);
}

cvips_result cvips_rewrite(int descriptor, cvips_options options, void **bytes, size_t *count) {
    vips_error_clear();
    VipsSource *source = vips_source_new_from_descriptor(descriptor);
    if (source == NULL) return CVIPS_NOT_AN_IMAGE;
    header found;
    cvips_result result = inspect(source, &options, &found);
    const char *loader = result == CVIPS_DONE ? vips_foreign_find_load_source(source) : NULL;
    if (result == CVIPS_DONE && loader == NULL) result = CVIPS_NOT_AN_IMAGE;
    if (result == CVIPS_DONE) {
        bool may_move = strcmp(loader, "VipsForeignLoadWebpSource") == 0 || strcmp(loader, "VipsForeignLoadNsgifSource") == 0;
        VipsImage *image = vips_image_new_from_source(
            source, may_move ? "[n=-1,fail_on=error]" : "[fail_on=error]", "access", access_to(&found), NULL);
        if (image == NULL) {
            result = CVIPS_NOT_AN_IMAGE;
        } else if ((uint64_t)vips_image_get_width(image) * (uint64_t)vips_image_get_height(image)
                   > limit_for(found.loader, &options)) {
            result = CVIPS_TOO_LARGE;
        } else if (!normalise(&image) || !forget(&image) || !write_as(loader, image, options.quality, bytes, count)) {
            result = CVIPS_NOT_AN_IMAGE;
        }
        g_clear_object(&image);
    }
    g_object_unref(source);
    return result;
}
