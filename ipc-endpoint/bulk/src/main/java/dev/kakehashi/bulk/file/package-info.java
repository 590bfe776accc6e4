/// The one gate through which files are opened: named locations, new files under temporary names, files that clients sent.
@NullMarked
package dev.kakehashi.bulk.file;

import org.jspecify.annotations.NullMarked;
