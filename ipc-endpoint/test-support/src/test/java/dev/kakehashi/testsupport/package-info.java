@NullMarked
package dev.kakehashi.testsupport;

import org.jspecify.annotations.NullMarked;
