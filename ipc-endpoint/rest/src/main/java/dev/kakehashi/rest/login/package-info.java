/// Who a client is.
@NullMarked
package dev.kakehashi.rest.login;

import org.jspecify.annotations.NullMarked;
