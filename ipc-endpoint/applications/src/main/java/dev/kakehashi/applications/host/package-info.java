/// The roof: native applications as the engine knows them, in this process and in others.
@NullMarked
package dev.kakehashi.applications.host;

import org.jspecify.annotations.NullMarked;
