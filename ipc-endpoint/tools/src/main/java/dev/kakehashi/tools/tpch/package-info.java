/// Tables of the TPC-H benchmark: generated, loaded into an engine, or written as text for PostgreSQL's COPY.
@NullMarked
package dev.kakehashi.tools.tpch;

import org.jspecify.annotations.NullMarked;
