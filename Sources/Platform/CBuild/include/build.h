#ifndef CONCORD_BUILD_H
#define CONCORD_BUILD_H

/// The commit of which a distribution was built; "development" in any other build.
extern const char *const concord_commit;

#endif
