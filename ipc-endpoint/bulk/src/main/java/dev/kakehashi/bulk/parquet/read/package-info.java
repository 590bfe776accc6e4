/// Parquet files to row batches.
///
/// `ParquetRows` is the file, thread-safe: footer, schema, row groups that a condition leaves. `ParquetPart` is a row group under one task.
/// Each column goes through pages (`LeafPages`), a decoder of their encoding, and the input of its type in `value`.
/// Lengths in a file are believed by nobody: they are compared with the bytes that are there, and memory is reserved first.
@NullMarked
package dev.kakehashi.bulk.parquet.read;

import org.jspecify.annotations.NullMarked;
