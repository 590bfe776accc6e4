/// Data that crosses the bridge: messages, mapped layouts, row batches, error codes. See PROTOCOL.md.
@NullMarked
package dev.kakehashi.protocol;

import org.jspecify.annotations.NullMarked;
