/// Parts that a start sets up around the endpoint: its log file, its signal, its registry, its request archive.
@NullMarked
package dev.kakehashi.server.start;

import org.jspecify.annotations.NullMarked;
