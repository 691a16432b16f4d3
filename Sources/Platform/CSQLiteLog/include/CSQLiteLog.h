#ifndef CSQLITELOG_H
#define CSQLITELOG_H

#include <stdint.h>

/// Makes all connections of this process that are opened from now on write the frames of a transaction to the write-ahead
/// log together. SQLite itself makes two system calls for each frame, which splits every page of the log in three.
///
/// Returns an SQLite result code.
int csqlitelog_install(void);

/// Returns the type of the file system on which a file lies, the `f_type` of Linux's `statfs`; -1 when it is not known.
int64_t csqlitelog_file_system(const char *path);

#endif
