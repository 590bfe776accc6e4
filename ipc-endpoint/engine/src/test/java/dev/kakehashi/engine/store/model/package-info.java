/// Models of the store's protocols, of which every state is visited.
@NullMarked
package dev.kakehashi.engine.store.model;

import org.jspecify.annotations.NullMarked;
