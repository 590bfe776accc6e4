/// Registry of functions and aggregates, by name: the roof above the families of types, which it asks for theirs.
@NullMarked
package dev.kakehashi.engine.type.registry;

import org.jspecify.annotations.NullMarked;
