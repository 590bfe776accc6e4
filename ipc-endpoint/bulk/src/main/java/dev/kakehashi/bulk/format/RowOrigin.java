package dev.kakehashi.bulk.format;

/// Where a row is in its file.
///
/// @param line from 1: of the file where it has lines; the row's number within the part otherwise, to which who collects the parts adds
///     what came before
/// @param isLine whether it is a line of the file
/// @param byteOffset of the row in the (decompressed) file; -1: the format has none
/// @param raw the row as it is in the file; for formats without lines a line of CSV that has its values
public record RowOrigin(long line, boolean isLine, long byteOffset, byte[] raw) {}
