/// Sessions and transactions of clients, their leases, admission and cancel, and the order of requests: one way for every interface.
///
/// An interface (shared memory, HTTP) opens sessions and sends requests; it knows neither the engine's plans nor other interfaces.
@NullMarked
package dev.kakehashi.requests;

import org.jspecify.annotations.NullMarked;
