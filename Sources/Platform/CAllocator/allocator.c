#include "CAllocator.h"

#include <stddef.h>

// The functions are there when the program is linked with jemalloc (https://jemalloc.net/jemalloc.3.html).
extern int mallctl(const char *name, void *old, size_t *old_size, void *value, size_t size) __attribute__((weak));

bool callocator_is_jemalloc(void) { return mallctl != NULL; }

void callocator_purge(void) {
    if (mallctl == NULL) return;
    // The caches of this thread first, then all arenas (MALLCTL_ARENAS_ALL).
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}
