#ifndef CONCORD_LIBPQ_SHIM_H
#define CONCORD_LIBPQ_SHIM_H

#include <libpq-fe.h>

// Swift does not import macros that are character constants.
static const int CONCORD_DIAG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int CONCORD_DIAG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY;

#endif
