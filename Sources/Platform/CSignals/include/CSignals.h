#ifndef CSIGNALS_H
#define CSIGNALS_H

/// Handles SIGBUS: writes a line to standard error, and then ends the process by the signal, as it would end without a
/// handler.
///
/// - Parameter line: The line with its end. It is copied, because a handler may not format anything; what is longer than 1,024
///   bytes is cut off.
void csignals_explain_bus_errors(const char *line);

#endif
