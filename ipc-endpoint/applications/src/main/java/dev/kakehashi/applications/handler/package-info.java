/// Handlers of queues: they take tasks as long as their version is in use.
@NullMarked
package dev.kakehashi.applications.handler;

import org.jspecify.annotations.NullMarked;
