/// Proving a password without sending it: SCRAM-SHA-256 (RFC 5802, RFC 7677) and the preparation of passwords (RFC 4013).
@NullMarked
package dev.kakehashi.protocol.authentication;

import org.jspecify.annotations.NullMarked;
