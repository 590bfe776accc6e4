package dev.kakehashi.bulk.arrow;

import java.util.List;

/// The buffers of one field of a record batch. Immutable.
///
/// @param rows values of the field
/// @param nulls how many of them are null
/// @param buffers in the order of the format; the first one is the validity, if the layout has one
/// @param children of lists and structs
record ArrowColumnData(
    ArrowShape shape,
    int rows,
    long nulls,
    List<ArrowSlice> buffers,
    List<ArrowColumnData> children) {}
