@NullMarked
package dev.kakehashi.requests;

import org.jspecify.annotations.NullMarked;
