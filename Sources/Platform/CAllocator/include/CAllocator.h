#ifndef CONCORD_CALLOCATOR_H
#define CONCORD_CALLOCATOR_H

#include <stdbool.h>

/// Returns whether the program's memory comes from jemalloc, with which release builds for Linux are linked.
bool callocator_is_jemalloc(void);

/// Returns all memory that is free to the system. It does nothing with another allocator.
void callocator_purge(void);

#endif
