/// How Java calls the C library and Linux: the functions, their errors, and calls that several modules make.
@NullMarked
package dev.kakehashi.os;

import org.jspecify.annotations.NullMarked;
