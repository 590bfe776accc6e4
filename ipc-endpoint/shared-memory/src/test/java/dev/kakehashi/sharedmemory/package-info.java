@NullMarked
package dev.kakehashi.sharedmemory;

import org.jspecify.annotations.NullMarked;
