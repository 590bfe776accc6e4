/// Calls of procedures, routes and handlers: threads, transactions, limits, and what users' code sees of them.
@NullMarked
package dev.kakehashi.applications.call;

import org.jspecify.annotations.NullMarked;
