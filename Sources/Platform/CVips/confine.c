#define _GNU_SOURCE
#include "CVips.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))

static bool limit(int resource, rlim_t value) {
    struct rlimit current;
    if (getrlimit(resource, &current) != 0) return false;
    // An operator may have set a lower limit.
    if (current.rlim_max != RLIM_INFINITY && current.rlim_max < value) value = current.rlim_max;
    return setrlimit(resource, &(struct rlimit){value, value}) == 0;
}

bool cvips_limit(cvips_limits limits) {
    // The parent process may have left descriptors open that an image must not reach.
    for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
#if defined(__linux__) && defined(SYS_close_range)
    syscall(SYS_close_range, 1024u, ~0u, 0u);
#endif
    alarm(limits.cpu_seconds * 3);
    // A library that tries to write a file must get an error and not end the process.
    signal(SIGXFSZ, SIG_IGN);
    bool done = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CPU, limits.cpu_seconds);
#if defined(__linux__) && !IS_SANITIZED
    // On other systems a process starts with more address space than any image needs. So it does with a sanitizer, which
    // reserves terabytes for its shadow memory.
    done = done && (limits.memory == 0 || limit(RLIMIT_AS, limits.memory));
#endif
    return done;
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// These macros build seccomp's filters: look at a field, jump over steps depending on its value, return a verdict.
#define LOOK(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_ANY(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define RETURN(verdict) BPF_STMT(BPF_RET | BPF_K, verdict)
#define ALLOW(call) IF(SYS_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define FAIL(code) RETURN(SECCOMP_RET_ERRNO | (code))

bool cvips_confine(void) {
    static struct sock_filter steps[] = {
        LOOK(arch), IF(ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
        LOOK(nr),
        // Threads are allowed, processes are not. The filter cannot see the flags of clone3, so it is refused and the C
        // library falls back to clone.
        IF(SYS_clone, 0, 4), LOOK(args[0]), IF_ANY(CLONE_THREAD, 0, 1), RETURN(SECCOMP_RET_ALLOW), FAIL(EPERM),
        // Memory is allowed unless it is executable.
        IF(SYS_mmap, 1, 0), IF(SYS_mprotect, 0, 4),
        LOOK(args[2]), IF_ANY(PROT_EXEC, 1, 0), RETURN(SECCOMP_RET_ALLOW), FAIL(EPERM),
        ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(brk),
        ALLOW(read), ALLOW(pread64), ALLOW(readv), ALLOW(write), ALLOW(writev), ALLOW(lseek), ALLOW(fstat),
        ALLOW(close), ALLOW(dup),
        ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(sched_yield), ALLOW(sched_getaffinity),
        ALLOW(rt_sigprocmask), ALLOW(rt_sigaction), ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(restart_syscall),
        ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday), ALLOW(getrandom),
        ALLOW(gettid), ALLOW(getpid), ALLOW(exit), ALLOW(exit_group),
        FAIL(ENOSYS),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    // The filter applies to all threads, because libvips may have started some.
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#else

bool cvips_confine(void) { return true; }

#endif
