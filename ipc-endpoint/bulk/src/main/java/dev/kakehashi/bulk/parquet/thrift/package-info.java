/// Thrift's compact protocol, and the structures of Parquet's metadata in it.
@NullMarked
package dev.kakehashi.bulk.parquet.thrift;

import org.jspecify.annotations.NullMarked;
