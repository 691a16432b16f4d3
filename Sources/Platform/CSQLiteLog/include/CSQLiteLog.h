#ifndef CSQLITELOG_H
#define CSQLITELOG_H

struct sqlite3;

/// Makes all connections of this process that are opened from now on write the frames of a transaction to the write-ahead
/// log together. SQLite itself makes two system calls for each frame, which splits every page of the log in three.
///
/// Returns an SQLite result code.
int csqlitelog_install(void);

/// Notes that a transaction is over whose frames could not all be written. The next one may begin anywhere, and read what
/// other processes have written since.
void csqlitelog_forget_failure(struct sqlite3 *connection);

#endif
