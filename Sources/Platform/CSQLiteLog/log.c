// A layer over SQLite's own VFS (https://www.sqlite.org/vfs.html) that collects what is appended to a write-ahead log, and
// writes it when the frame that ends a transaction has come (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
// No connection reads a frame before that: the other connections learn of a transaction once it is committed, and what this
// connection reads of its own is written before. A crash leaves less of a transaction that was not committed. A write that
// fails may be reported by a later call than SQLite's own would be, of the same transaction, which SQLite then rolls back.
#include "CSQLiteLog.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// SQLite's VFS for Unix takes the 17 low bits of a count for the whole.
enum { FRAME_HEADER = 24, LIMIT = 0x1ffff };

/// An open write-ahead log. The file of SQLite's own VFS follows it in memory.
typedef struct {
    sqlite3_file base;
    /// What waits to be written, where it belongs, and the size of its memory.
    unsigned char *waiting;
    int count, room;
    sqlite3_int64 offset;
    /// The place after the latest write. A write elsewhere is not collected.
    sqlite3_int64 tail;
    /// Whether the page that comes next ends a transaction.
    int ends;
} Log;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs vfs;

static size_t log_size(void) { return (sizeof(Log) + 15) / 16 * 16; }

static sqlite3_file *file_of(Log *log) { return (sqlite3_file *)((char *)log + log_size()); }

static int write_waiting(Log *log) {
    if (log->count == 0) return SQLITE_OK;
    sqlite3_file *file = file_of(log);
    int count = log->count;
    log->count = 0;
    return file->pMethods->xWrite(file, log->waiting, count, log->offset);
}

/// Makes room for more bytes. Returns whether there is.
static int reserve(Log *log, int count) {
    int needed = log->count + count;
    if (needed <= log->room) return 1;
    int room = needed < 1 << 14 ? 1 << 14 : LIMIT;
    unsigned char *waiting = realloc(log->waiting, (size_t)room);
    if (!waiting) return 0;
    log->waiting = waiting;
    log->room = room;
    return 1;
}

static int log_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    Log *log = (Log *)base;
    const unsigned char *header = bytes;
    int isHeader = count == FRAME_HEADER, mustWrite = log->ends && !isHeader;
    // A frame that ends a transaction has the size of the database here, others have zero.
    log->ends = isHeader && (header[4] | header[5] | header[6] | header[7]);
    int isNext = offset == log->tail;
    log->tail = offset + count;
    if (!isNext || count > LIMIT - log->count) {
        int code = write_waiting(log);
        if (code != SQLITE_OK) return code;
    }
    if (!isNext || count > LIMIT || !reserve(log, count)) {
        sqlite3_file *file = file_of(log);
        int code = write_waiting(log);
        return code == SQLITE_OK ? file->pMethods->xWrite(file, bytes, count, offset) : code;
    }
    if (log->count == 0) log->offset = offset;
    memcpy(log->waiting + log->count, bytes, (size_t)count);
    log->count += count;
    return mustWrite ? write_waiting(log) : SQLITE_OK;
}

static int log_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    Log *log = (Log *)base;
    sqlite3_file *file = file_of(log);
    int code = write_waiting(log);
    return code == SQLITE_OK ? file->pMethods->xRead(file, bytes, count, offset) : code;
}

static int log_sync(sqlite3_file *base, int flags) {
    Log *log = (Log *)base;
    sqlite3_file *file = file_of(log);
    int code = write_waiting(log);
    return code == SQLITE_OK ? file->pMethods->xSync(file, flags) : code;
}

static int log_truncate(sqlite3_file *base, sqlite3_int64 size) {
    Log *log = (Log *)base;
    sqlite3_file *file = file_of(log);
    int code = write_waiting(log);
    return code == SQLITE_OK ? file->pMethods->xTruncate(file, size) : code;
}

static int log_size_on_disk(sqlite3_file *base, sqlite3_int64 *size) {
    Log *log = (Log *)base;
    sqlite3_file *file = file_of(log);
    int code = write_waiting(log);
    return code == SQLITE_OK ? file->pMethods->xFileSize(file, size) : code;
}

static int log_close(sqlite3_file *base) {
    Log *log = (Log *)base;
    sqlite3_file *file = file_of(log);
    int written = write_waiting(log);
    free(log->waiting);
    int closed = file->pMethods->xClose(file);
    base->pMethods = NULL;
    return closed == SQLITE_OK ? written : closed;
}

// The rest is SQLite's own.

static int log_lock(sqlite3_file *base, int level) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xLock(file, level);
}

static int log_unlock(sqlite3_file *base, int level) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xUnlock(file, level);
}

static int log_check_reserved_lock(sqlite3_file *base, int *result) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xCheckReservedLock(file, result);
}

static int log_file_control(sqlite3_file *base, int operation, void *argument) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xFileControl(file, operation, argument);
}

static int log_sector_size(sqlite3_file *base) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xSectorSize(file);
}

static int log_device_characteristics(sqlite3_file *base) {
    sqlite3_file *file = file_of((Log *)base);
    return file->pMethods->xDeviceCharacteristics(file);
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size_on_disk,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_reserved_lock,
    .xFileControl = log_file_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_device_characteristics,
};

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *base, int flags, int *opened) {
    (void)self;
    // Other files are SQLite's own from the beginning of their memory on.
    if (!(flags & SQLITE_OPEN_WAL)) return system_vfs->xOpen(system_vfs, name, base, flags, opened);
    Log *log = (Log *)base;
    memset(log, 0, sizeof(Log));
    log->tail = -1;
    sqlite3_file *file = file_of(log);
    int code = system_vfs->xOpen(system_vfs, name, file, flags, opened);
    // SQLite closes a file that has methods, also when it could not be opened.
    if (code == SQLITE_OK) {
        base->pMethods = &methods;
    } else if (file->pMethods) {
        file->pMethods->xClose(file);
    }
    return code;
}

int csqlitelog_install(void) {
    if (system_vfs) return SQLITE_OK;
    system_vfs = sqlite3_vfs_find(NULL);
    if (!system_vfs) return SQLITE_ERROR;
    vfs = *system_vfs;
    vfs.zName = "concord";
    vfs.szOsFile += (int)log_size();
    vfs.xOpen = open_file;
    vfs.pNext = NULL;
    return sqlite3_vfs_register(&vfs, 1);
}
