/// The seam between loads and dumps, which know files, and formats, which know bytes.
@NullMarked
package dev.kakehashi.bulk.format;

import org.jspecify.annotations.NullMarked;
