#include "build.h"

const char *const concord_commit = CONCORD_COMMIT;
