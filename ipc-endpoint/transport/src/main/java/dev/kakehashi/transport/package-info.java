/// Parts that both sides of the transport share: configuration and errors. `os` wraps the system calls, `endpoint` is the endpoint's side.
@NullMarked
package dev.kakehashi.transport;

import org.jspecify.annotations.NullMarked;
