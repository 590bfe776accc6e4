/// Seam between the engine and the files of `COPY`. The engine knows rows and rights. An implementation of
/// [dev.kakehashi.engine.api.bulk.BulkAccess] knows files and their formats.
@NullMarked
package dev.kakehashi.engine.api.bulk;

import org.jspecify.annotations.NullMarked;
