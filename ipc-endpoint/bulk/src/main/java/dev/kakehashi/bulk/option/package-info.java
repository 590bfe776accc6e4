/// Options of `COPY`: one table of all, their values, and the formats that are made of them.
@NullMarked
package dev.kakehashi.bulk.option;

import org.jspecify.annotations.NullMarked;
