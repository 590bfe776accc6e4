/// Applications of the engine as PostgreSQL, psql and other OS users see them.
@NullMarked
package dev.kakehashi.pgtests.application;

import org.jspecify.annotations.NullMarked;
