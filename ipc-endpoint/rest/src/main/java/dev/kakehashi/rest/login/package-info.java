/// Authentication of clients.
@NullMarked
package dev.kakehashi.rest.login;

import org.jspecify.annotations.NullMarked;
