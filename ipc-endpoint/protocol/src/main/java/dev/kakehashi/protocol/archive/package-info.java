/// The request archive: what an endpoint was asked and how it answered, in files that outlive it. See [ArchiveWriter].
@NullMarked
package dev.kakehashi.protocol.archive;

import org.jspecify.annotations.NullMarked;
