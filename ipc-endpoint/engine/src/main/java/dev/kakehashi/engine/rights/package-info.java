/// Roles, who is a member of which, and lists of privileges. Knows no object of the catalogue.
@NullMarked
package dev.kakehashi.engine.rights;

import org.jspecify.annotations.NullMarked;
