#include "CVips.h"

#include <vips/vips.h>

/// Draws the text as large as three fifths of the edge allow, as white on black; nil when there is nothing to see.
static VipsImage *mask(const char *text, int edge) {
    VipsImage *drawn = NULL;
    VipsImage *placed = NULL;
    // The text is not one of Pango's markup language.
    gchar *escaped = g_markup_escape_text(text, -1);
    if (vips_text(&drawn, escaped, "font", "sans bold", "width", edge * 3 / 5, "height", edge * 2 / 5, NULL) != 0)
        vips_error_clear();
    else if (vips_gravity(drawn, &placed, VIPS_COMPASS_DIRECTION_CENTRE, edge, edge, NULL) != 0)
        vips_error_clear();
    g_free(escaped);
    g_clear_object(&drawn);
    return placed;
}

cvips_result cvips_initials(const char *text, uint32_t colour, cvips_options options, void **bytes, size_t *count) {
    vips_error_clear();
    VipsImage *drawn = mask(text, options.edge);
    if (drawn == NULL && vips_black(&drawn, options.edge, options.edge, NULL) != 0) return CVIPS_NOT_AN_IMAGE;
    const double paper[] = {colour >> 16 & 255, colour >> 8 & 255, colour & 255};
    double slope[3];
    for (int band = 0; band < 3; band++) slope[band] = (255 - paper[band]) / 255;
    VipsImage *coloured = NULL;
    VipsImage *picture = NULL;
    bool done = vips_linear(drawn, &coloured, slope, paper, 3, "uchar", TRUE, NULL) == 0
        && vips_copy(coloured, &picture, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) == 0
        && vips_jpegsave_buffer(picture, bytes, count, "Q", options.quality, "strip", TRUE, NULL) == 0;
    g_clear_object(&drawn);
    g_clear_object(&coloured);
    g_clear_object(&picture);
    return done ? CVIPS_DONE : CVIPS_NOT_AN_IMAGE;
}
