/// Emits the C side of the protocol from the SBE schema: bounds-checked codecs, offsets of mapped
/// memory, error codes.
@NullMarked
package dev.kakehashi.protocol.generator;

import org.jspecify.annotations.NullMarked;
