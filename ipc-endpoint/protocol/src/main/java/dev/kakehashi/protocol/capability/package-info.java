/// Capabilities of an engine, as its endpoint says them to clients. `schema/messages.xml` gives each its bit; a test compares them.
@NullMarked
package dev.kakehashi.protocol.capability;

import org.jspecify.annotations.NullMarked;
