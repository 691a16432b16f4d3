#include "CVips.h"

#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

bool cvips_start(void) {
    // Or else it makes machine code at run time, for which there is no memory after cvips_confine.
    setenv("VIPS_NOVECTOR", "1", 1);
    if (vips_init("thumbnail") != 0) return false;
    static const char *const loaders[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadNsgif",
        "VipsForeignLoadHeif",
    };
    vips_operation_block_set("VipsForeignLoad", TRUE);
    for (size_t index = 0; index < G_N_ELEMENTS(loaders); index++)
        vips_operation_block_set(loaders[index], FALSE);
    // One image, once: several processes run side by side instead.
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    return true;
}

const char *cvips_message(void) { return vips_error_buffer(); }

/// Looks at the header alone.
static cvips_result inspect(VipsSource *source, uint64_t maximum_pixels) {
    // Without this, libvips 8.14 crashes on an empty file.
    if (vips_source_sniff(source, 4) == NULL) return CVIPS_NOT_AN_IMAGE;
    VipsImage *image = vips_image_new_from_source(source, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    if (image == NULL) return CVIPS_NOT_AN_IMAGE;
    cvips_result result = CVIPS_DONE;
    if ((uint64_t)vips_image_get_width(image) * (uint64_t)vips_image_get_height(image) > maximum_pixels)
        result = CVIPS_TOO_LARGE;
    // The container of HEIC holds other codecs too (AVIF): only HEVC is among the five formats.
    const char *codec;
    if (vips_image_get_typeof(image, "heif-compression") != 0
        && (vips_image_get_string(image, "heif-compression", &codec) != 0 || strcmp(codec, "hevc") != 0))
        result = CVIPS_NOT_AN_IMAGE;
    g_object_unref(image);
    return result;
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

cvips_result cvips_thumbnail(int descriptor, cvips_options options, void **bytes, size_t *count) {
    vips_error_clear();
    VipsSource *source = vips_source_new_from_descriptor(descriptor);
    if (source == NULL) return CVIPS_NOT_AN_IMAGE;
    cvips_result result = inspect(source, options.maximum_pixels);
    if (result == CVIPS_DONE) {
        VipsImage *image = NULL;
        // Half an image is none. Said to the loader itself: libvips does not hand this one's own "fail_on" on to it.
        int status = vips_thumbnail_source(
            source, &image, options.edge, "size", options.crop ? VIPS_SIZE_BOTH : VIPS_SIZE_DOWN, "crop",
            options.crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, "export_profile", "srgb",
            "option_string", "[fail_on=error]", NULL);
        if (status != 0 || !encode(image, options.quality, bytes, count)) result = CVIPS_NOT_AN_IMAGE;
        g_clear_object(&image);
    }
    g_object_unref(source);
    return result;
}
