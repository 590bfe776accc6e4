/// Reports of the endpoint on itself.
@NullMarked
package dev.kakehashi.server.report;

import org.jspecify.annotations.NullMarked;
