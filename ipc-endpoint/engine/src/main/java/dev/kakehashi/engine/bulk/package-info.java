/// Runs COPY: rows of files into tables, rows of queries into files. Access to files is behind [dev.kakehashi.engine.api.bulk.BulkAccess].
@NullMarked
package dev.kakehashi.engine.bulk;

import org.jspecify.annotations.NullMarked;
