/// Rows as text and Arrow: from row batches to bytes, without objects per row.
@NullMarked
package dev.kakehashi.formats;

import org.jspecify.annotations.NullMarked;
