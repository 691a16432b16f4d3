#ifndef CONCORD_SQLITE_SHIM_H
#define CONCORD_SQLITE_SHIM_H

#include <sqlite3.h>

// Swift cannot call functions with a variable number of arguments. It has an effect before the first connection alone.
static inline int concord_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

#endif
