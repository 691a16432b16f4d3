#include "CSQLiteLog.h"

#ifdef __linux__
#include <sys/vfs.h>

int64_t csqlitelog_file_system(const char *path) {
    struct statfs system;
    return statfs(path, &system) == 0 ? (int64_t)system.f_type : -1;
}
#else
int64_t csqlitelog_file_system(const char *path) {
    (void)path;
    return -1;
}
#endif
