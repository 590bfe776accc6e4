/// `kakehashi replay`: runs an archive of requests against an endpoint.
@NullMarked
package dev.kakehashi.tools.replay;

import org.jspecify.annotations.NullMarked;
