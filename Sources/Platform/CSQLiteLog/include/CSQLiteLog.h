#ifndef CSQLITELOG_H
#define CSQLITELOG_H

/// Makes all connections of this process that are opened from now on write the frames of a transaction to the write-ahead
/// log together. SQLite itself makes two system calls for each frame, which splits every page of the log in three.
///
/// Returns an SQLite result code.
int csqlitelog_install(void);

#endif
