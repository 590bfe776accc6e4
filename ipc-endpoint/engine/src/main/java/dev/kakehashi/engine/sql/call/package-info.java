/// CALL: procedures and routes of native applications.
@NullMarked
package dev.kakehashi.engine.sql.call;

import org.jspecify.annotations.NullMarked;
