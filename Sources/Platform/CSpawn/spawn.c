#define _GNU_SOURCE
#include "CSpawn.h"

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAS_CLOSE_FROM
#endif
#endif

int cspawn_close_from(posix_spawn_file_actions_t *actions, int first) {
#ifdef HAS_CLOSE_FROM
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    (void)actions;
    (void)first;
    return 0;
#endif
}
