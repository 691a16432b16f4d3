#ifndef CONCORD_CSPAWN_H
#define CONCORD_CSPAWN_H

#include <spawn.h>

/// Lets the new process have no descriptor from `first` on. An error of errno.h, or 0; does nothing where the C library
/// has no means for it. Swift does not see the function of glibc, which is an extension.
int cspawn_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
