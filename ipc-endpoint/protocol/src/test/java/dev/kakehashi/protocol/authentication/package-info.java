@NullMarked
package dev.kakehashi.protocol.authentication;

import org.jspecify.annotations.NullMarked;
