#ifndef CONCORD_SQLITE_SHIM_H
#define CONCORD_SQLITE_SHIM_H

#include <sqlite3.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

// Swift cannot call functions with a variable number of arguments. It has an effect before the first connection alone.
static inline int concord_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// From then on, paths that begin with `file:` are URIs, which may have parameters. It has an effect before the first connection
// alone.
static inline int concord_sqlite_with_uris(void) { return sqlite3_config(SQLITE_CONFIG_URI, 1); }

// Returns the type of the file system on which a file lies, the `f_type` of Linux's `statfs`; -1 when it is not known.
static inline int64_t concord_file_system(const char *path) {
#ifdef __linux__
    struct statfs system;
    if (statfs(path, &system) == 0) return (int64_t)system.f_type;
#endif
    (void)path;
    return -1;
}

#endif
