#ifndef CONCORD_CSPAWN_H
#define CONCORD_CSPAWN_H

#include <spawn.h>

/// Closes all descriptors from `first` on in the new process. Returns an error of errno.h, or 0. It does nothing where
/// the C library has no function for it. Swift does not import the function of glibc, because it is an extension.
int cspawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// Makes a pipe whose ends no new process inherits, not even one that another thread starts at the same moment: `ends`
/// becomes the one to read and the one to write. Returns an error of errno.h, or 0. Swift does not import `pipe2`, which is
/// an extension too. Without it, on a Mac, a process that is started at that moment may inherit them.
int cspawn_pipe(int ends[2]);

#endif
