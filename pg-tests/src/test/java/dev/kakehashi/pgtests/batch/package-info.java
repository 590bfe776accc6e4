/// The example of a batch: dump over HTTP, a job of Apache Spark, load over HTTP.
@NullMarked
package dev.kakehashi.pgtests.batch;

import org.jspecify.annotations.NullMarked;
