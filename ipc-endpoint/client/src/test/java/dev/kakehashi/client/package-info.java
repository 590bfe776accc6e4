@NullMarked
package dev.kakehashi.client;

import org.jspecify.annotations.NullMarked;
