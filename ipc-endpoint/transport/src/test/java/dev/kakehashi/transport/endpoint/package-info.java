@NullMarked
package dev.kakehashi.transport.endpoint;

import org.jspecify.annotations.NullMarked;
