/// Linux system calls and memory shared between processes.
@NullMarked
package dev.kakehashi.transport.os;

import org.jspecify.annotations.NullMarked;
