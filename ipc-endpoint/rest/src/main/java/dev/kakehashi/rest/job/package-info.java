/// Jobs, the files of their results, and keys under which a request takes effect once. Knows neither HTTP nor SQL.
@NullMarked
package dev.kakehashi.rest.job;

import org.jspecify.annotations.NullMarked;
