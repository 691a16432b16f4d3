#include "CAllocator.h"

#include <stddef.h>

// A function of jemalloc (https://jemalloc.net/jemalloc.3.html); null unless the program is linked with it. The linkers of
// other systems refuse such a symbol.
#ifdef __linux__
extern int mallctl(const char *name, void *old, size_t *old_size, void *value, size_t size) __attribute__((weak));
#else
static int (*const mallctl)(const char *, void *, size_t *, void *, size_t) = NULL;
#endif

bool callocator_is_jemalloc(void) { return mallctl != NULL; }

void callocator_purge(void) {
    if (mallctl == NULL) return;
    // The caches of this thread first, then all arenas (MALLCTL_ARENAS_ALL).
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}
