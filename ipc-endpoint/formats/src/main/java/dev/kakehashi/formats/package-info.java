/// Rows as text and Arrow: from row batches to bytes, without objects per row.
///
/// Why Arrow, CSV and the text of values are written by hand: docs/decisions/0038 to 0040.
@NullMarked
package dev.kakehashi.formats;

import org.jspecify.annotations.NullMarked;
