/// What an engine can do, as its endpoint says it to clients. `schema/messages.xml` gives each its bit; a test compares them.
@NullMarked
package dev.kakehashi.protocol.capability;

import org.jspecify.annotations.NullMarked;
