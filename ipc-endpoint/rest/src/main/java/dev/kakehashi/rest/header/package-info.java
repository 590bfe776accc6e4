/// Fields of headers: structured fields (RFC 9651) and what is built of them, preferences, media types, codings.
@NullMarked
package dev.kakehashi.rest.header;

import org.jspecify.annotations.NullMarked;
