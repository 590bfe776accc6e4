/// What `COPY` needs of files, seen from the engine: it knows rows and rights, and whoever implements [dev.kakehashi.engine.api.bulk.BulkAccess] knows files and their formats.
@NullMarked
package dev.kakehashi.engine.api.bulk;

import org.jspecify.annotations.NullMarked;
