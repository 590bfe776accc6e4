@NullMarked
package dev.kakehashi.rest.job.http;

import org.jspecify.annotations.NullMarked;
