/// Objects that the endpoint puts into the database: its catalogue as views, and the outcomes of its transactions.
@NullMarked
package dev.kakehashi.pgwire.catalog;

import org.jspecify.annotations.NullMarked;
