#ifndef CONCORD_CSPAWN_H
#define CONCORD_CSPAWN_H

#include <spawn.h>

/// Closes all descriptors from `first` on in the new process. Returns an error of errno.h, or 0. It does nothing where
/// the C library has no function for it. Swift does not import the function of glibc, because it is an extension.
int cspawn_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
