/// Reads of rows in the endpoint's memory, without a request: from a ticket, which the answer to Prepare may carry, to the row of a key.
///
/// Nothing is written there and nothing latched. A word may be torn, or be something else by now: every address and length is cut to
/// the memory before it is used, and nothing is believed before the words have been looked at again that change first. The extension reads
/// in the same way, in `src/ipc/direct`; decision 0049 says why that is right.
///
/// | class | is |
/// |---|---|
/// | `StoreMemory` | the memory, mapped for reading |
/// | `DirectTicket` | what the endpoint says of a statement |
/// | `DirectReader` | what makes an answer of what was read |
/// | `DirectIndex` | from a key to rows |
/// | `DirectRow` | from a row to its values |
/// | `DirectKey` | the bytes of a key |
///
/// For [dev.kakehashi.client.Session] alone.
@NullMarked
package dev.kakehashi.client.direct;

import org.jspecify.annotations.NullMarked;
