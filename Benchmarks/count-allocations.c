// Counts a program's allocations in a file, for Benchmarks/compare:
//     cc -O2 -shared -fPIC -o count.so count-allocations.c
//     ALLOCATIONS=/tmp/count LD_PRELOAD=./count.so concord serve
// The file has the number of allocations and of their bytes, 64 bits each.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The functions of the program's allocator, which the ones in this file replace: glibc's, or another library's.
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void (*next_free)(void *);

// Memory for what the look-up of those functions allocates itself. It is never freed.
static _Alignas(16) char early_memory[16384];
static size_t early_size;

static _Atomic unsigned long early[2];
static _Atomic unsigned long *counts = early;

static void find(void) {
    static int is_looking;
    if (next_malloc || is_looking) return;
    is_looking = 1;
    next_free = dlsym(RTLD_NEXT, "free");
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    next_malloc = dlsym(RTLD_NEXT, "malloc");
}

static int is_early(const void *place) {
    return (const char *)place >= early_memory && (const char *)place < early_memory + sizeof early_memory;
}

static void *take_early(size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early_memory - early_size) return NULL;
    void *place = early_memory + early_size;
    early_size += size;
    return place;
}

__attribute__((constructor)) static void map(void) {
    const char *path = getenv("ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof early)) return;
    void *place = mmap(NULL, sizeof early, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) counts = place;
    close(file);
}

static void count(size_t size) {
    atomic_fetch_add_explicit(&counts[0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[1], size, memory_order_relaxed);
}

void *malloc(size_t size) {
    count(size);
    find();
    return next_malloc ? next_malloc(size) : take_early(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    find();
    return next_malloc ? next_calloc(number, size) : take_early(number * size);
}

void *realloc(void *old, size_t size) {
    count(size);
    find();
    if (next_malloc && !is_early(old)) return next_realloc(old, size);
    void *new = next_malloc ? next_malloc(size) : take_early(size);
    if (new && old) {
        size_t rest = (size_t)(early_memory + sizeof early_memory - (char *)old);
        memcpy(new, old, size < rest ? size : rest);
    }
    return new;
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(size);
    find();
    return next_malloc ? next_aligned_alloc(alignment, size) : NULL;
}

int posix_memalign(void **place, size_t alignment, size_t size) {
    count(size);
    find();
    return next_malloc ? next_posix_memalign(place, alignment, size) : ENOMEM;
}

void free(void *place) {
    if (!place || is_early(place)) return;
    find();
    if (next_free) next_free(place);
}
