#define _GNU_SOURCE
#include "CSignals.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char line[1024];
static size_t length;

// Only functions that POSIX calls async-signal-safe are used here. SA_RESETHAND has restored the default action by now, and
// SIGBUS is blocked: the raised signal ends the process when this returns, also when the first one came from outside.
static void explain(int number) {
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
    raise(number);
}

void csignals_explain_bus_errors(const char *text) {
    length = strnlen(text, sizeof line);
    memcpy(line, text, length);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = explain;
    action.sa_flags = SA_RESETHAND | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
